"""Making: of which types a program has objects at all; the methods of others are no callees of an interface's.

A rapid type analysis after Bacon and Sweeney (OOPSLA 1996), by names: what code that may run speaks of may be made or
called there. A type that only its own methods and tests speak of, `var _ Interface = (*T)(nil)`, or a function that
only tests call, has no objects; a public one only where a program of the repository uses its package: else tests show
what others make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from racelint.model import Assign, Attr, Call, Closure, Eval, Function, Name, Source, Stmt, TypeRef, TypeValue
from racelint.record import records

MODULE = "<module>"
STARTING = frozenset({MODULE, "main", "init"})
Key: TypeAlias = tuple[str, str]  # a name and its package, "" for a name that other packages can use


class Making:
    """Answers for types, in languages whose packages say by a name whether others can use it."""

    def __init__(self, sources: Iterable[Source]) -> None:
        """Tests make nothing; of what is generated only the outline is known, so that it may make anything it can."""
        self._spoken: dict[Key, set[Key]] = defaultdict(set)  # by who speaks of them
        self._known: set[Key] = set()  # what may run or be made
        self._open: set[str] = set()  # packages that generated code can use
        self._types: set[Key] = set()
        self._functions: set[Key] = set()  # those that others may call
        self._homes: dict[Key, set[str]] = defaultdict(set)  # the packages that declare a function
        self._speakers: dict[Key, set[Key]] | None = None  # of a name, those that speak of it
        self._run: set[Key] | None = None  # what programs may run or make
        self._tested: set[str] = set()  # names of which tests speak
        self._generated: set[str] = set()  # and generated code
        self._is_of_program: Callable[[str], bool] = lambda package: False
        for source in sources:
            if not source.module.traits.duck_typed and (source.reported or source.module.generated):
                self._read(source)
            elif not source.module.traits.duck_typed:
                self._tested.update(_words(source))
        self._only_tested = self._types & self._left_to_tests()
        self._known = self._follow(self._known)

    def close(self, is_of_program: Callable[[str], bool]) -> None:
        """Say which packages programs of the repository use."""
        self._is_of_program = is_of_program

    def has(self, type_id: str) -> bool:
        """Whether there may be objects of a type."""
        module, _, qualname = type_id.partition(":")
        key = _key(_package(module), qualname)
        if self.is_only_tested(type_id):
            return False
        return key in self._known or _package(module) in self._open or key not in self._spoken

    def is_only_tested(self, type_id: str) -> bool:
        """Whether a type of a package that programs use is for tests: they alone speak of it or of what makes it."""
        module, _, qualname = type_id.partition(":")
        return _key(_package(module), qualname) in self._only_tested and self._is_of_program(module)

    def is_never_made(self, type_id: str) -> bool:
        """Whether a type of a package that programs use has no objects: only functions of that package speak of it,
        as `NewSweeper` does, and of them nobody does, be it a test.
        """
        module, _, qualname = type_id.partition(":")
        key = _key(_package(module), qualname)
        makers = self._speakers_of(key)
        unspoken = bool(makers) and all(self._is_unspoken(maker, key, _package(module)) for maker in makers)
        return unspoken and key[1] not in self._tested | self._generated and self._is_of_program(module)

    def is_made_elsewhere(self, type_id: str, user: str) -> bool:
        """Whether programs of the repository run what uses a type, and nothing that they run speaks of the type.

        Who imports their packages may make objects of it, as tests do. `user` is a function.
        """
        (module, _, qualname), (home, _, used) = type_id.partition(":"), user.partition(":")
        key = _key(_package(module), qualname)
        if self._run is None:
            started = {each for each in self._spoken if "@" in each[1] or each[1] in STARTING}
            self._run = self._follow(started)
        if _package(module) in self._open or key[1] in self._generated or not self._is_of_program(module):
            return False
        return key in self._spoken and key not in self._run and _key(_package(home), used) in self._run

    def speaks_of(self, function_id: str) -> bool:
        """Whether anything has a function's or method's name, but for that function itself: code, tests, what is
        generated.
        """
        module, _, qualname = function_id.partition(":")
        name = qualname.rpartition(".")[2]
        return name in self._tested or name in self._generated or bool(self._speakers_of(_key(_package(module), name)))

    def _is_unspoken(self, function: Key, made: Key, package: str) -> bool:
        """Whether nobody speaks of a package's function but what it makes."""
        if self._homes.get(function) != {package} or function[1] in self._tested | self._generated:
            return False
        return self._speakers_of(function) <= {made}

    def _speakers_of(self, key: Key) -> set[Key]:
        """What speaks of a name, but for itself."""
        if self._speakers is None:
            self._speakers = defaultdict(set)
            for speaker, spoken in self._spoken.items():
                for each in spoken:
                    self._speakers[each].add(speaker)
        return self._speakers.get(key, set()) - {key}

    def _read(self, source: Source) -> None:
        package, module = _package(source.name), source.module
        if module.generated:
            self._open |= {package, *[imported.module for imported in module.imports.values()]}
            self._generated.update(_words(source))
        self._note(_key(package, MODULE), package, *[found.annotation for found in module.globals.values()])
        for record in module.types.values():
            fields = [found.annotation for found in record.fields.values()]
            self._note(_key(package, record.qualname), package, record.underlying, *fields)
        for function in module.functions.values():
            initial = function.qualname == MODULE
            body = tuple([part for part in function.body if not (initial and is_only_checked(part))])
            self._note(_key(package, function.qualname), package, body, *_signature(function))
        self._types.update([_key(package, name) for name in module.types])
        self._functions.update([_key("", name) for name in module.functions if name[:1].isupper() and "." not in name])
        for name in module.functions:
            if "." not in name and "@" not in name and name not in STARTING:
                self._homes[_key(package, name)].add(package)
        for key in [_key(package, name) for name in (*module.functions, *module.types)]:
            if _is_known_elsewhere(key[1]):
                self._known.add(key)

    def _left_to_tests(self) -> set[Key]:
        """What tests speak of, or the functions that they call, and nothing does that runs without them."""
        words = self._tested - self._generated
        called = {key for key in self._functions if key[1] in words}
        made = {key for function in called for key in self._spoken[function] if key[1] not in self._generated}
        tested = called | made | {key for key in self._types if key[1] in words}
        return tested - self._follow(self._known - tested)

    def _note(self, speaker: Key, package: str, *parts: object) -> None:
        self._spoken[speaker].update([_key(package, name) for name in _names(parts)])

    def _follow(self, known: set[Key]) -> set[Key]:
        """What may run or be made if that does."""
        found, todo = set(known), list(known)
        while todo:
            fresh = self._spoken.get(todo.pop(), set()) - found
            found |= fresh
            todo += fresh
        return found


def _words(source: Source) -> Iterator[str]:
    """The names that a file speaks of, whether its functions are known or only their outline."""
    yield from (*source.module.mentions.split(), *source.module.called.split())
    yield from _names(tuple([function.body for function in source.module.functions.values()]))


def _package(module: str) -> str:
    return module.partition("@")[0]


def _key(package: str, qualname: str) -> Key:
    """What a name stands for, or the function or the type that it is declared in: what a method does, its type does."""
    name = qualname.partition(".")[0]
    return ("" if name[:1].isupper() else package, name)


def _is_known_elsewhere(name: str) -> bool:
    """Whether something runs without being called here, or others than this repository may use it."""
    return name[:1].isupper() or "@" in name or name in (MODULE, "main")


def _signature(function: Function) -> Iterator[TypeRef | None]:
    yield function.returns
    yield from function.annotations.values()
    yield from [parameter.annotation for parameter in function.parameters]


def is_only_checked(stmt: Stmt) -> bool:
    """Whether a statement is there for the compiler: `var _ Interface = (*T)(nil)`."""
    match stmt:
        case Eval(value=value) | Assign(targets=(Name(name="_"),), value=value):
            return not any(isinstance(part, Call) for part in records(value))
        case _:
            return False


def _names(parts: object) -> Iterator[str]:
    """All names in some code that may be those of functions and types."""
    for node in records(parts):
        match node:
            case Name(name=name) | Attr(name=name) | TypeRef(name=name):
                yield name
            case TypeValue(type=qualname) | Closure(function=qualname):
                yield qualname
