"""What names mean across modules: imports and re-exports, functions, types and their inheritance."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from racelint.analysis.embedding import Embedding
from racelint.analysis.installed import Installed
from racelint.analysis.making import Making
from racelint.analysis.packages import by_module, is_beside, merged
from racelint.analysis.values import (
    NAMED,
    Builtin,
    Captured,
    FunctionValue,
    Global,
    Literal,
    ModuleValue,
    Param,
    TypeValue,
    Value,
)
from racelint.knowledge import Knowledge
from racelint.model import (
    Annotation,
    Assigned,
    Attr,
    AttributeStore,
    Call,
    Closure,
    Const,
    Construction,
    Eval,
    Expr,
    Function,
    Imported,
    Item,
    Jump,
    Module,
    Name,
    Source,
    Star,
    Type,
)
from racelint.model import (
    Field as FieldRecord,
)
from racelint.model import (
    TypeValue as TypeExpr,
)
from racelint.record import records
from racelint.span import Span

MODULE = "<module>"
SETTER = ".setter"  # ends the qualified name of what runs where a property is assigned
# Bases of which all is known, and which call no method that the knowledge tables do not name.
DATA = frozenset({"dict", "list", "set", "frozenset", "tuple", "str", "bytes", "int", "float"})
CLOSED = ("object", "abc.", "enum.", "threading.", "typing.", "Exception", "ValueError", "RuntimeError")
# Packages, files and types of Go that stand in for others in tests.
STAND_INS = frozenset({
    "mock", "mocks", "fake", "fakes", "dummy", "dummies", "mockutil", "testing", "testutil", "testutils", "e2e",
})  # fmt: skip
DOUBLE = re.compile("(?:^|[a-z0-9])(?:Mock|Fake|Dummy)|^(?:mock|fake|dummy)[A-Z]")
FOR_TESTS = re.compile(
    "(?:^|[a-z0-9])(?:Test|Mock|Fake|Dummy|Stub|Spy)(?=[A-Z]|$)|^(?:test|mock|fake|dummy|stub|spy)[A-Z]"
)
TESTING = frozenset({"testing", "net/http/httptest"})  # what only tests use
LINKS = 12  # re-exports followed before a name counts as unknown


class Words(NamedTuple):
    """The names that a file speaks of, and those that it calls; whether it is in the usual build, and analysed there.

    `packages` are its own and those that it imports. `partial` says that it is no test, and not all of it is analysed:
    it is generated, or for another build.
    """

    path: str
    known: bool
    packages: tuple[str, ...]
    mentions: str
    called: str
    partial: bool


class Symbols:
    """All modules, functions and types of the program, by id.

    A module's id is its dotted name (with its path where two files share one); a function's or type's id is
    "module:qualname".
    """

    def __init__(self, sources: Iterable[Source], knowledge: Knowledge) -> None:
        self._is_library = knowledge.speaks_of
        self._module_name = knowledge.module
        self.sources: dict[str, Source] = {}
        self.functions: dict[str, tuple[Source, Function]] = {}
        self.types: dict[str, tuple[Source, Type]] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._globals: dict[tuple[str, str], Value] = {}
        self._ancestors: dict[str, tuple[Value, ...]] = {}
        self._below: dict[str, frozenset[str]] = {}
        self.stored_from_outside: set[str] = set()
        self.mentioned: set[str] = set()  # names of what is not only called, where calls say whom they mean
        self._of_several: set[str] | None = None  # names of functions that return several values
        self.spoken_of: set[str] = set()  # these, and what is called anywhere, in tests and other builds, too
        self.words: list[Words] = []  # the same by files
        self._stores: dict[str, list[tuple[str, AttributeStore]]] = defaultdict(list)
        self.fillings: dict[tuple[str, str], list[Assigned]] = defaultdict(list)  # by type or module, and name
        self.annotations: list[tuple[Source, Annotation]] = []  # each with the file that it stands in
        self.imports: dict[str, set[str]] = {}  # what modules import in the usual build, by dotted names
        self.paths: dict[tuple[str, str], str] = {}  # the files in which modules of several files declare variables
        found = by_module(sources)
        for module, files in found.items():
            self._add(module, files)
            if not is_beside(files[0], found):
                self._by_name[files[0].name].append(module)
        self._installed = Installed(self.sources.values())
        self._keeping: dict[str, set[str]] | None = None
        self._constructions: dict[str, list[tuple[str, Construction]]] = defaultdict(list)
        for module, source in self.sources.items():
            for made in source.module.constructions if source.reported else ():
                func = made.call.func
                if isinstance(func, Name | Attr):
                    self._constructions[func.name].append((module, made))
        self.declared_locks = {
            n[-1] for _, a in self.annotations if a.kind in ("guarded_by", "requires_lock") for n in a.names
        }
        self._class_variables: dict[tuple[str, str], str | None] = {}
        self._methods: dict[tuple[str, str], str | None] = {}
        self._stand_ins: dict[str, bool] = {}
        self._captured: dict[str, frozenset[str]] = {}
        self._bare_calls: dict[str, frozenset[Span]] = {}
        self._registered: defaultdict[str, list[str]] | None = None
        self.embedding = Embedding(self)
        self.making = Making(source for files in found.values() for source in files)
        self._subtypes = self._invert_bases()
        for interface, types in self.embedding.implementers().items():
            self._subtypes[interface] += types
        self._below.clear()
        self._methods.clear()  # what was asked for while ancestors were still being found may be incomplete
        self._methods_by_name = self._index_methods()
        self._owners_of_fields: dict[str, list[str]] = defaultdict(list)
        for type_id, (_, record) in self.types.items():
            for name in record.fields:
                self._owners_of_fields[name].append(type_id)

    def _add(self, module: str, files: list[Source]) -> None:
        """Add a module: one file, or the files of a package, each of which is told as the source of what it has."""
        content = merged(files)
        self.sources[module] = files[0]._replace(
            name=module, module=content, reported=any([file.reported for file in files])
        )
        built = [file.module for file in files if not file.left_out]
        self.imports[module] = {each.module for part in built for each in part.imports.values()}
        self.stored_from_outside.update(store.name for store in content.attribute_stores)
        if not content.traits.duck_typed:
            self.mentioned.update(name for part in built for name in part.mentions.split())
            words = [_words(module, file) for file in files]
            self.spoken_of.update(name for each in words for name in f"{each.mentions} {each.called}".split())
            self.words += words
            for store in content.attribute_stores:
                self._stores[store.name].append((f"{module}:{store.function}", store))
        for filling in content.fillings:
            owner = f"{module}:{filling.owner}" if filling.owner else module
            self.fillings[owner, filling.name].append(Assigned(filling.function, filling.value))
        for file in files:
            source = file._replace(name=module, module=content)
            self.annotations += [(source, annotation) for annotation in file.module.annotations]
            for name in file.module.globals:
                self.paths.setdefault((module, name), file.path)
            for qualname in file.module.functions:
                if qualname in content.functions:
                    self.functions.setdefault(f"{module}:{qualname}", (source, content.functions[qualname]))
            for qualname in file.module.types:
                self.types.setdefault(f"{module}:{qualname}", (source, content.types[qualname]))

    # --- modules and imports ------------------------------------------------------------------------------------------

    def module(self, name: str, importer: Source) -> str | None:
        """The module that `name` means for an importer: of several with that name the nearest one in the tree."""
        candidates = self._by_name.get(name) or self._in_namespace(name, importer)
        if not candidates:
            return None
        if len(candidates) == 1:
            return candidates[0]
        return max(candidates, key=lambda m: (_common(self.sources[m].path, importer.path), m))

    def _in_namespace(self, name: str, importer: Source) -> list[str]:
        """The modules that are meant where a folder above them is a package without an `__init__.py` (PEP 420).

        Or where it is installed by another name.
        """
        first, _, rest = name.partition(".")
        if not first or not importer.module.traits.duck_typed:
            return []
        installed = self._installed.module(name)
        if installed is not None:
            return [installed]
        ends = (f"/{name.replace('.', '/')}.py", f"/{name.replace('.', '/')}/__init__.py")
        while rest:
            found = [module for module in self._by_name.get(rest, ()) if self.sources[module].path.endswith(ends)]
            if found:
                return found
            rest = rest.partition(".")[2]
        return []

    def resolve_import(self, source: Source, imported: Imported, links: int = LINKS) -> Value:
        """What an import binds; a library's name becomes a `Builtin` with its dotted name."""
        name = imported.absolute(source.path, source.name)
        module = self.module(name, source)
        if imported.name is None:
            return ModuleValue(module) if module else Builtin(self._module_name(name))
        if module is not None and links > 0:
            found = self.attribute(module, imported.name, links - 1)
            if found is not None:
                return found
        submodule = self.module(f"{name}.{imported.name}", source)
        if submodule is not None:
            return ModuleValue(submodule)
        return Builtin(self._module_name(f"{self._module_name(name)}.{imported.name}"))

    def attribute(
        self, module: str, name: str, links: int = LINKS, seen: frozenset[str] = frozenset()
    ) -> Value | None:  # fmt: skip
        """A module's attribute: what it defines, imports or has as a submodule; None if there is none.

        `seen` are the modules that have been asked for it on the way here.
        """
        seen |= {module}
        source = self.sources[module]
        content = source.module
        qualified = f"{source.name.partition('@')[0]}.{name}"
        if not source.reported and not content.traits.duck_typed and self._is_library(qualified):
            return Builtin(qualified)  # the tables say more of it than its outline
        if name in content.globals:
            return self._definition(module, name, links)
        if name in content.imports:
            return self.resolve_import(source, content.imports[name], links)
        for star in content.star_imports:
            target = self.module(star.absolute(source.path, source.name), source)
            further = target is not None and target not in seen and links > 0
            found = self._of_star(target, name, links - 1, seen) if further and target else None
            if found is None and target is None and self._is_library(f"{star.module}.{name}"):
                found = Builtin(f"{star.module}.{name}")
            if found is not None:
                return found
        submodule = self.module(f"{source.name}.{name}", source)
        return ModuleValue(submodule) if submodule else None

    def _of_star(self, module: str, name: str, links: int, seen: frozenset[str]) -> Value | None:
        """What taking over all of a module's names gives; a Go package does not hand on what it has taken over."""
        content = self.sources[module].module
        handed_on = content.traits.duck_typed or name in content.globals
        return self.attribute(module, name, links, seen) if handed_on else None

    def name(self, module: str, name: str) -> Value:
        """What a global name means in a module; names defined nowhere are builtins."""
        key = (module, name)
        found = self._globals.get(key)
        if found is None:
            found = self._globals[key] = self.attribute(module, name) or Builtin(name)
        return found

    def constant(self, value: Value) -> Literal | None:
        """What a value is worth for good: a constant, or a variable of a module with one constant assigned to it."""
        if not isinstance(value, Global):
            return value if isinstance(value, Literal) else None
        content = self.sources[value.module].module
        record = content.globals.get(value.name)
        if record is None:
            return None
        assigned = [each.value for each in record.values] if content.traits.duck_typed else [record.constant]
        scalar = assigned[0].value if len(assigned) == 1 and isinstance(assigned[0], Const) else None
        return None if scalar is None else Literal(scalar, type(scalar).__name__)

    def named(self, value: Value) -> Literal | None:
        """What another package has by a name, if that is not known to be a function or a type: mostly a constant."""
        return Literal(value.name, NAMED) if isinstance(value, Builtin) and "." in value.name else None

    def _definition(self, module: str, name: str, links: int) -> Value:
        """A global: a function or type if that is all it can be, else a variable."""
        record = self.sources[module].module.globals[name]
        if len(record.values) > 4:
            return Global(module, name)
        for assigned in record.values:
            found = self.static(module, assigned.value, links - 1) if links > 0 else None
            if isinstance(found, FunctionValue | TypeValue | ModuleValue):
                return found
            if isinstance(found, Builtin) and len(record.values) == 1 and self._is_library(found.name):
                return found  # `Lock = threading.RLock`
        return Global(module, name)

    def static(self, module: str, expr: Expr, links: int = LINKS) -> Value | None:
        """What a module-level expression means if that can be said without running anything."""
        match expr:
            case Closure(function=function):
                return FunctionValue(f"{module}:{function}")
            case TypeExpr(type=name):
                return TypeValue(f"{module}:{name}")
            case Imported():
                return self.resolve_import(self.sources[module], expr, links)
            case Name(name=name, scope="global"):
                return self.attribute(module, name, links - 1) or Builtin(name) if links > 0 else None
            case Attr(base=base, name=name):
                return self.member(self.static(module, base, links - 1), name, links - 1) if links > 0 else None
            case Call(args=(Closure() as inner,)):
                return self.static(module, inner)  # a decorator: calls still run the function
            case Call(args=(Call() as inner,)) if isinstance(inner.func, Name | Attr | Call):
                return self.static(module, inner, links - 1) if links > 0 and _decorated(inner) else None
            case Item(base=base):
                return self.static(module, base, links)  # Generic[T]
            case _:
                return None

    def decorator(self, module: str, function: Function, decorator: Expr) -> Value | None:
        """What decorates a function, if that can be said without running anything; it may be of the class around it."""
        named = decorator.func if isinstance(decorator, Call) else decorator
        if isinstance(named, Name) and function.owner:
            method = self.method(f"{module}:{function.owner}", named.name)
            if method is not None:
                return FunctionValue(method)
        return self.static(module, named)

    def meant(self, function_id: str, expr: Expr) -> Value | None:
        """The same for an expression in a function, whose own imports may name something too."""
        source, function = self.functions.get(function_id, (None, None))
        if source is None or function is None:
            return None
        match expr:
            case Name(name=name, scope="local"):
                match function.bindings.get(name, ()):
                    case (Imported() as imported,):
                        return self.resolve_import(source, imported)
                    case (Closure(function=nested),):
                        return FunctionValue(f"{source.name}:{nested}")
                    case _:
                        return None
            case Attr(base=Name(scope="local") as base, name=name):
                return self.member(self.meant(function_id, base), name)
            case _:
                return self.static(source.name, expr)

    def member(self, value: Value | None, name: str, links: int = LINKS) -> Value | None:
        """An attribute of a module, a library or a class, if that can be said without running anything."""
        match value:
            case ModuleValue(module=module):
                return self.attribute(module, name, links) if links > 0 else None
            case Builtin(name=library):
                return Builtin(f"{library}.{name}")
            case TypeValue(type=owner):
                method = self.method(owner, name)
                if method is not None:
                    return FunctionValue(method)
                nested = f"{owner}.{name}"
                return TypeValue(nested) if nested in self.types else None
            case _:
                return None

    def is_ordered_by_steps(self, function_id: str) -> bool:
        """Whether a function is of a language where single steps are not atomic: their order must be made."""
        return not self.functions[function_id][0].module.traits.atomic_steps

    def is_coroutine(self, function_id: str, knowledge: Knowledge) -> bool:
        """Whether calling a function makes a coroutine: it is async, or a generator that a decorator makes one."""
        source, function = self.functions[function_id]
        if function.is_async:
            return not function.is_generator
        for decorator in function.decorators if function.is_generator else ():
            value = self.static(source.name, decorator.func if isinstance(decorator, Call) else decorator)
            if isinstance(value, Builtin) and knowledge.does(value.name, "coroutine"):
                return True
        return False

    # --- types --------------------------------------------------------------------------------------------------------

    def ancestors(self, type_id: str) -> tuple[Value, ...]:
        """The type and all it inherits from, nearest first: TypeValue for the project's, Builtin for libraries'.

        Nothing of a type that has methods here, and is declared in a file that is not there.
        """
        if type_id not in self._ancestors:
            if type_id not in self.types:
                return ()
            self._ancestors[type_id] = (TypeValue(type_id),)  # cut cycles
            found: list[Value] = [TypeValue(type_id)]
            source, record = self.types[type_id]
            for base in record.bases:
                value = self.static(source.name, base)
                line: tuple[Value, ...] = ()
                if isinstance(value, TypeValue):
                    line = self.ancestors(value.type)
                elif isinstance(value, Builtin):
                    line = (value,)
                # A shared ancestor comes after all that inherit from it, as in Python's linearisation.
                found = [v for v in found if v not in line] + list(line)
            self._ancestors[type_id] = tuple(found)
        return self._ancestors[type_id]

    def is_open(self, type_id: str) -> bool:
        """Whether a type may have fields and callers that its sources do not show, by a base that is a library's."""
        for ancestor in self.ancestors(type_id):
            if isinstance(ancestor, Builtin) and ancestor.name not in DATA and not ancestor.name.startswith(CLOSED):
                return True
            if isinstance(ancestor, TypeValue):
                source, record = self.types[ancestor.type]
                if any([self.static(source.name, base) is None for base in record.bases]):
                    return True
        return False

    def method(self, type_id: str, name: str) -> str | None:
        """The method a type has by that name, its own or inherited."""
        key = (type_id, name)
        if key not in self._methods:
            self._methods[key] = self._method(type_id, name)
        return self._methods[key]

    def _method(self, type_id: str, name: str) -> str | None:
        for ancestor in self.ancestors(type_id):
            if isinstance(ancestor, TypeValue):
                source, record = self.types[ancestor.type]
                if name in record.methods:
                    return f"{source.name}:{record.methods[name]}"
        return None

    def methods_like(self, type_id: str, patterns: tuple[str, ...]) -> list[str]:
        """The methods of a type, its own and inherited, whose names match a pattern."""
        found: dict[str, str] = {}
        for ancestor in self.ancestors(type_id):
            if isinstance(ancestor, TypeValue):
                source, record = self.types[ancestor.type]
                for name, qualname in record.methods.items():
                    if any(fnmatchcase(name, pattern) for pattern in patterns):
                        found.setdefault(name, f"{source.name}:{qualname}")
        return list(found.values())

    def after(self, type_id: str, owner: str, name: str) -> str | None:
        """The method that `super()` in `owner` finds on an object of the type."""
        line = [a.type for a in self.ancestors(type_id) if isinstance(a, TypeValue)]
        start = line.index(owner) + 1 if owner in line else 0
        for ancestor in line[start:]:
            source, record = self.types[ancestor]
            if name in record.methods:
                return f"{source.name}:{record.methods[name]}"
        return None

    def stands_in(self, function_id: str) -> bool:
        """Whether a function belongs to a package of stand-ins for tests, in a language that keeps them so."""
        known = self._stand_ins.get(function_id)
        if known is None:
            known = self._stand_ins[function_id] = self._stands_in(function_id)
        return known

    def _stands_in(self, function_id: str) -> bool:
        source, function = self.functions[function_id]
        if source.module.traits.duck_typed:
            return False
        *folders, file = source.path.lower().removesuffix(".go").split("/")[-3:]
        named = bool(function.owner) and bool(DOUBLE.search(function.owner or "") or self._serves_tests(function_id))
        return named or not STAND_INS.isdisjoint(folders) or not STAND_INS.isdisjoint(file.split("_"))

    def fits_many(self, function_id: str) -> bool:
        """Whether an abstract method is the only one of its interface: unrelated types have it, too."""
        source, function = self.functions[function_id]
        owner = source.module.types.get(function.owner or "")
        return owner is not None and owner.is_interface and len(owner.methods) == 1

    def _serves_tests(self, function_id: str) -> bool:
        """Whether the type that has a method keeps the test that it is made for, or a server for tests."""
        known = self.types.get(self.owner_of(function_id))
        kinds = [record.annotation for record in known[1].fields.values()] if known is not None else []
        inner = [kind.args[0] if kind.name == "*" and kind.args else kind for kind in kinds if kind is not None]
        return any(kind.module in TESTING for kind in inner)

    def overrides(self, type_id: str, name: str) -> list[str]:
        """The methods that types below this one put in place of its own, or have through what they embed.

        In Go those only of types that objects are made of, if there are any: else other code makes them, unless only
        tests do, and the types say by their names that they are for those.
        """
        found: dict[str, None] = {}
        every = sorted(self.subtypes(type_id))
        for subtype in list(filter(self.making.has, every)) or [each for each in every if not self._is_double(each)]:
            method = self.put_in_place(subtype, name)
            if method is not None:
                found[method] = None
        return list(found)

    def _is_double(self, type_id: str) -> bool:
        """Whether a type says by its name that it is for tests, and only they have objects of it."""
        return bool(FOR_TESTS.search(type_id.rpartition(":")[2])) and self.making.is_only_tested(type_id)

    def put_in_place(self, type_id: str, name: str) -> str | None:
        """The method that a type puts in place of one above it, or has through what it embeds."""
        source, record = self.types[type_id]
        if name in record.methods:
            return f"{source.name}:{record.methods[name]}"
        return self.embedding.promoted(type_id, name) if record.embedded else None

    def registered(self, function_id: str) -> list[str]:
        """The functions that decorators make implementations of a generic one: `@function.register(int)`."""
        if self._registered is None:
            self._registered = defaultdict(list)
            for each, (source, function) in self.functions.items():
                for decorator in function.decorators:
                    named = decorator.func if isinstance(decorator, Call) else decorator
                    if isinstance(named, Attr) and named.name == "register":
                        generic = self.decorator(source.name, function, named.base)
                        if isinstance(generic, FunctionValue):
                            self._registered[generic.function].append(each)
        return self._registered[function_id]

    def owner_of(self, function_id: str) -> str:
        """The type that a method belongs to, "" for other functions."""
        source, function = self.functions[function_id]
        return f"{source.name}:{function.owner}" if function.owner else ""

    def bare_calls(self, function_id: str) -> frozenset[Span]:
        """The calls in a function of which nobody uses the result: statements, and what is given back as it is.

        Not so if the function says that it gives something.
        """
        if function_id not in self._bare_calls:
            _, function = self.functions[function_id]
            kinds = Eval if function.returns is not None and function.returns.name != "None" else Eval | Jump
            bare = [part.value for part in records(function.body) if isinstance(part, kinds)]
            self._bare_calls[function_id] = frozenset([value.span for value in bare if isinstance(value, Call)])
        return self._bare_calls[function_id]

    def captured_by(self, function_id: str) -> frozenset[str]:
        """The variables of functions around that a closure uses, itself or in those that it makes."""
        known = self._captured.get(function_id)
        if known is None:
            source, function = self.functions[function_id]
            parts = list(records(function.body))
            own = {part.name for part in parts if isinstance(part, Name) and part.scope == "captured"}
            inner = [self.captured_by(f"{source.name}:{p.function}") for p in parts if isinstance(p, Closure)]
            known = self._captured[function_id] = frozenset(own).union(*inner)
        return known

    def outermost(self, function_id: str) -> str:
        """The method or function of a package in which a closure stands; that itself, if it is no closure."""
        source, function = self.functions[function_id]
        while function.parent is not None and function.parent != MODULE and not function.owner:
            function_id = f"{source.name}:{function.parent}"
            function = self.functions[function_id][1]
        return function_id

    def is_instance(self, value: Value) -> bool:
        """Whether a value is the instance that a method was called on."""
        if not isinstance(value, Param) or value.index:
            return False
        _, function = self.functions[value.function]
        return function.owner is not None and function.binding == "instance"

    def subtypes(self, type_id: str) -> frozenset[str]:
        """All types below this one."""
        known = self._below.get(type_id)
        if known is None:
            known = self._below[type_id] = self._all_below(type_id)
        return known

    def _all_below(self, type_id: str) -> frozenset[str]:
        seen: set[str] = set()
        todo = [type_id]
        while todo:
            for subtype in self._subtypes.get(todo.pop(), ()):
                if subtype not in seen:
                    seen.add(subtype)
                    todo.append(subtype)
        return frozenset(seen)

    def field(self, type_id: str, name: str) -> tuple[str, FieldRecord] | None:
        """The record of a field and the type that declares it, nearest first."""
        for ancestor in self.ancestors(type_id):
            if isinstance(ancestor, TypeValue):
                record = self.types[ancestor.type][1].fields.get(name)
                if record is not None:
                    return ancestor.type, record
        return None

    def field_behind(self, type_id: str, name: str) -> tuple[str, FieldRecord] | None:
        """Likewise; of an interface, that of the one type behind it which has such a field. An alias has none."""
        found = self.field(type_id, name)
        if found is not None or type_id not in self.types or not self.types[type_id][1].is_interface:
            return found
        behind = [self.field(subtype, name) for subtype in self.subtypes(type_id) if self.types[subtype][0].reported]
        known = {each[0]: each for each in behind if each is not None}
        return next(iter(known.values())) if len(known) == 1 else None

    def class_variable(self, type_id: str, name: str) -> str | None:
        """The type in whose body a field is set, if it is never set on an instance: all instances share it."""
        key = (type_id, name)
        if key not in self._class_variables:
            self._class_variables[key] = self._class_variable(type_id, name)
        return self._class_variables[key]

    def _class_variable(self, type_id: str, name: str) -> str | None:
        records = list(self.field_records(type_id, name))
        if not records or name in self.stored_from_outside:
            return None  # somewhere `thing.name = ...` may set it on an instance
        if not all(v.function.endswith("<body>") for _, record in records for v in record.values):
            return None
        owner, record = records[0]
        if not record.values or self.types[owner][1].decorators:
            return None
        if record.annotation is not None and any(isinstance(a, Builtin) for a in self.ancestors(owner)):
            return None  # a NamedTuple, a model of pydantic: the body declares the fields of instances
        return owner

    def field_records(self, type_id: str, name: str) -> Iterator[tuple[str, FieldRecord]]:
        """Every record of a field in the type's line."""
        for ancestor in self.ancestors(type_id):
            if isinstance(ancestor, TypeValue):
                record = self.types[ancestor.type][1].fields.get(name)
                if record is not None:
                    yield ancestor.type, record

    def constructions(self, type_id: str) -> Iterator[tuple[str, Construction]]:
        """The calls of a type: each with the id of the function in which it stands."""
        for module, made in self._constructions.get(type_id.rpartition(":")[2].rpartition(".")[2], ()):
            found = self.meant(f"{module}:{made.function}", made.call.func)
            if found == TypeValue(type_id):
                yield f"{module}:{made.function}", made
        for name in self._kept_as().get(type_id, ()):
            for module, made in self._constructions.get(name, ()):
                if self._is_by_kept_class(f"{module}:{made.function}", made.call.func, type_id):
                    yield f"{module}:{made.function}", made

    def kept_class(self, owner: str, name: str) -> TypeValue | None:
        """The class that a class keeps in a variable, for all that it makes by it: `worker_class = Worker`."""
        kept = [
            self.static(type_id.partition(":")[0], assigned.value)
            for type_id, record in self.field_records(owner, name)
            for assigned in record.values
        ]
        return kept[0] if len(kept) == 1 and isinstance(kept[0], TypeValue) else None

    def _kept_as(self) -> dict[str, set[str]]:
        """By the classes that others keep in variables, the names of these."""
        if self._keeping is None:
            self._keeping = defaultdict(set)
            for source, record in self.types.values():
                for name, declared in record.fields.items() if source.module.traits.capital_types else ():
                    kept = declared.values[0].value if len(declared.values) == 1 else None
                    found = self.static(source.name, kept) if isinstance(kept, Name | Attr) else None
                    if isinstance(found, TypeValue):
                        self._keeping[found.type].add(name)
        return self._keeping

    def _is_by_kept_class(self, function_id: str, func: Expr, type_id: str) -> bool:
        """Whether a method calls the class that its own class keeps: `self.worker_class(...)`."""
        own, owner = self.functions[function_id][1].own, self.owner_of(function_id)
        if not (isinstance(func, Attr) and isinstance(func.base, Name) and func.base.name == own and owner):
            return False
        return self.kept_class(owner, func.name) == TypeValue(type_id)

    def handed(self, type_id: str, position: int, name: str) -> Iterator[tuple[str, Expr]]:
        """What the calls of a type give for a parameter, each with the id of the function in which it stands."""
        for function_id, made in self.constructions(type_id):
            given = argument(made.call, position, name)
            if given is not None:
                yield function_id, given

    def stores(self, name: str) -> Sequence[tuple[str, AttributeStore]]:
        """The stores to fields of a name, of whatever type, each with the id of the function in which it stands."""
        return self._stores.get(name, ())

    def called(self, name: str) -> Iterator[tuple[str, Call]]:
        """The calls of anything by a name that give something, each with the id of the function in which it stands."""
        for module, made in self._constructions.get(name, ()):
            yield f"{module}:{made.function}", made.call

    def returns_several(self, name: str) -> bool:
        """Whether some function of a name returns more than one value, in languages where that is no tuple."""
        if self._of_several is None:
            functions = [function for _, function in self.functions.values()]
            self._of_several = {f.name for f in functions if f.returns is not None and f.returns.name == "results"}
        return name in self._of_several

    def owners(self, name: str) -> list[str]:
        """The types that define a method of this name themselves."""
        return self._methods_by_name.get(name, [])

    def field_owners(self, name: str) -> list[str]:
        """The types that have a field of this name."""
        return self._owners_of_fields.get(name, [])

    def is_instance_of(self, value: Param | Captured) -> bool:
        """Whether a parameter or a captured variable is a method's own instance."""
        return self.is_captured_instance(value) if isinstance(value, Captured) else self.is_instance(value)

    def is_captured_instance(self, variable: Captured) -> bool:
        """Whether a captured variable is the instance of the method around."""
        function = self.functions[variable.function][1]
        names = [parameter.name for parameter in function.parameters[:1]]
        return function.binding == "instance" and bool(function.owner) and names == [variable.name]

    def only_owner(self, field: str) -> str | None:
        """The one type that has a field of this name."""
        owners = self._owners_of_fields.get(field, ())
        return owners[0] if len(owners) == 1 else None

    def _invert_bases(self) -> dict[str, list[str]]:
        below: dict[str, list[str]] = defaultdict(list)
        for type_id in self.types:
            for ancestor in self.ancestors(type_id)[1:]:
                if isinstance(ancestor, TypeValue):
                    below[ancestor.type].append(type_id)
        return below

    def _index_methods(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = defaultdict(list)
        for type_id, (source, record) in self.types.items():
            if source.reported:
                for name in record.methods:
                    index[name].append(type_id)
        return index

    def content(self, module: str) -> Module:
        """A module's model."""
        return self.sources[module].module


def _decorated(call: Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0], Closure | Call)


def _common(first: str, second: str) -> int:
    """How many leading folders two paths share."""
    pairs = zip(first.split("/"), second.split("/"), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def argument(call: Call, position: int, name: str) -> Expr | None:
    """What a call gives for a parameter; None if it gives nothing, or that is not known."""
    if position < 0:
        return None
    spread = any(isinstance(arg, Star) for arg in call.args[: position + 1])
    return dict(call.keywords).get(name) or (call.args[position] if position < len(call.args) and not spread else None)


def _words(module: str, file: Source) -> Words:
    content = file.module
    packages = (module.partition("@")[0], *sorted({each.module for each in content.imports.values()}))
    known = file.reported and not file.left_out
    partial = content.generated or (file.reported and file.left_out)
    return Words(file.path, known, packages, content.mentions, content.called, partial)
