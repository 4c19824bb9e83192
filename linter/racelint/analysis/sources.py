"""Sources of shared objects: caches by their evidence, remembered results, handlers, settings and presets."""

from __future__ import annotations

from racelint.analysis.ownstores import OwnStores
from racelint.analysis.paths import root
from racelint.analysis.presets import is_preset, is_template
from racelint.analysis.summaries import Summaries
from racelint.analysis.symbols import MODULE, SETTER
from racelint.analysis.types import ClassType, LibraryType
from racelint.analysis.values import Builtin, Cached, Field, Global, Param, TypeValue, Value
from racelint.analysis.wrapping import is_own_state
from racelint.knowledge import Knowledge
from racelint.model import Attr, Build, Call, Const, Name
from racelint.model import Field as FieldRecord
from racelint.record import Record

# Methods of types that are only data:
DATA = ("DeepCopy", "DeepCopyInto", "DeepCopyObject", "ProtoReflect", "ProtoMessage")
LINKS = 3  # modules that hand on a variable


class Origin(Record):
    """Why an object is shared.

    `kind` is "library" (a library's cache), "memo" (a function that remembers its results), "handler" (what a cache
    gives to a registered function), "mirror" (a class that follows changes elsewhere), "cache" (one by its name),
    "lazy" (computed once and kept under a cache's name), "option", "setting", "default", "chosen" (a variable's
    object, one of several that a function may take), "half" (it was copied to be changed, but not all of it),
    "sibling" (others copy it before they change it), "argument" (a parameter's default), "live", "state" or "part"
    (of what a function is given; a copy is changed deeper than it goes). `start` is the path that is shared, or
    within which things are; `owner` the class or module whose own changes do not count, `by` what the source calls
    it.
    """

    kind: str
    start: Value
    owner: str
    by: str


class Sources:
    """Tells which paths lead to shared objects; all functions have been evaluated."""

    def __init__(self, knowledge: Knowledge, summaries: Summaries) -> None:
        self._symbols = summaries.symbols
        self._types = summaries.types
        self._names = knowledge.sharing
        self._hints = summaries.hints
        self._summaries = summaries
        self._fields: dict[tuple[str, str], Origin | None] = {}
        self._globals: dict[tuple[str, str], Origin | None] = {}
        self._watchers: dict[str, bool] = {}
        self._own_stores = OwnStores(summaries, lambda v: self.origin(v) is not None)

    def origin(self, start: Value) -> Origin | None:
        """Why what a path leads to, or holds, is shared; None if it is not, or nobody knows."""
        match start:
            case Cached(source=source):
                function = source in self._symbols.functions
                if not function and self._own_stores.is_own(start):
                    return None
                owner = self._owner(source) if function else ""
                return Origin("memo" if function else "library", start, owner, source)
            case Param():
                return self._parameter(start)
            case Field(base=base, name=name) if name in self._names.live and isinstance(root(base), Global | Builtin):
                return Origin("live", start, "", name)
            case Field(base=base, name=name):
                holder = base.type if isinstance(base, TypeValue) else self._types.class_of(base)
                found = self._field(holder, name) if holder else self._preset_of_any(base, name)
                return found._replace(start=start) if found else None
            case Global(module=module, name=name):
                found = self._global(module, name)
                return found._replace(start=start) if found else None
            case _:
                return None

    def _parameter(self, start: Param) -> Origin | None:
        """What a registered function is given, and what a function is given that is called without an argument."""
        _, function = self._symbols.functions[start.function]
        registration = self._hints.handlers.get(start.function)
        if registration is not None and start.index >= bool(function.owner):
            return Origin("handler", start, "", registration.method)
        kind = self._types.of(start)
        if isinstance(kind, LibraryType) and kind.name in self._names.events:
            return Origin("handler", start, "", kind.name.rpartition("/")[2])
        parameter = function.parameters[start.index] if start.index < len(function.parameters) else None
        if parameter is None or parameter.default is None:
            return None
        if isinstance(parameter.default, Build) and parameter.default.kind != "tuple":
            meant = (
                bool(parameter.default.parts)
                or parameter.name.startswith("_")
                or self._names.says(parameter.name, "cache")
            )
            return None if meant else Origin("argument", start, "", parameter.name)
        preset = self._default(start)
        found = self.origin(preset) if preset is not None else None
        return found._replace(start=start) if found is not None and found.kind == "default" else None

    def _default(self, start: Param) -> Value | None:
        """The module's variable that is a parameter's default."""
        source, function = self._symbols.functions[start.function]
        default = function.parameters[start.index].default
        found = self._symbols.static(source.name, default) if isinstance(default, Name | Attr) else None
        return found if isinstance(found, Global) else None

    def _owner(self, function_id: str) -> str:
        """The class of a property that remembers what it is, or of a method that makes a part of its object's state.

        What the class changes of it is its own affair.
        """
        source, function = self._symbols.functions[function_id]
        own = function.owner and (function.is_property or is_own_state(function_id, self._summaries))
        return f"{source.name}:{function.owner}" if own else ""

    def _preset_of_any(self, base: Value, name: str) -> Origin | None:
        """A constant by its name, of an object of unknown class: all classes that have one say that it is a preset."""
        if not name.strip("_").isupper() or self._types.of(base) not in (None, LibraryType("function")):
            return None
        found = [self._field(owner, name) for owner in self._symbols.field_owners(name)]
        first = found[0] if found else None
        return first if first and all(o is not None and o.kind == "default" for o in found) else None

    def _field(self, type_id: str, name: str) -> Origin | None:
        declared = self._symbols.field_behind(type_id, name)
        if declared is None:
            return None
        key = (declared[0], name)
        if key not in self._fields:
            self._fields[key] = None
            self._fields[key] = self._judge_field(*declared)
        return self._fields[key]

    def _judge_field(self, owner: str, record: FieldRecord) -> Origin | None:
        nowhere = Field(TypeValue(owner), record.name)
        by = f"{owner.rpartition(':')[2]}.{record.name}"
        if self._is_option(owner, record):
            return Origin("option", nowhere, "", by)
        if is_preset(record, "<body>", self._names):
            return Origin("default", nowhere, "", by)
        if self._is_lazy(owner, record):
            return Origin("lazy", nowhere, owner, by)
        outside = self._hints.filled.get((owner, record.name))
        replaced = self._is_replaced(owner, record)
        if outside is None and not replaced:
            return None
        if not (
            self._is_container(nowhere, owner, record)
            if self._is_duck_typed(owner)
            else self._holds_data(owner, record)
        ):
            return None
        if (outside or replaced) and self._watches(owner):
            return Origin("mirror", nowhere, owner, by)
        named = self._names.says(record.name, "cache")
        return Origin("cache", nowhere, owner, by) if outside and (named or self._is_cache_class(owner)) else None

    def _is_cache_class(self, owner: str) -> bool:
        return self._names.says(owner.rpartition(":")[2].rpartition(".")[2], "cache")

    def _is_container(self, path: Value, owner: str, record: FieldRecord) -> bool:
        """Whether a field holds many objects: data, not a project's objects with a life of their own."""
        found = self._types.field(owner, record.name)
        container = self._types.structures.behaviour(found)
        if container is None:
            return found is None
        element = self._types.structures.element(found, "value")
        return container.kind != "immutable" and not isinstance(element, ClassType)

    def _is_duck_typed(self, owner: str) -> bool:
        return self._symbols.types[owner][0].module.traits.duck_typed

    def _holds_data(self, owner: str, record: FieldRecord) -> bool:
        """Whether a field maps to data as others define it: of a library, or with what makes copies of it."""
        found = self._types.field(owner, record.name)
        element = self._types.structures.element(found, "value")
        if isinstance(element, ClassType):
            return not element.value and self.is_data(element.type)
        return isinstance(element, LibraryType) and element.pointer and "/" in element.name

    def is_data(self, type_id: str) -> bool:
        """Whether a type is one of data: of other habits, or with something that makes copies of it.

        An interface is what the program's own types are that implement it, if there are any.
        """
        source, record = self._symbols.types[type_id]
        if source.module.traits.duck_typed:
            return True
        types = self._symbols.types
        behind = [t for t in self._symbols.subtypes(type_id) if t in types and not types[t][1].is_interface]
        if record.is_interface and not behind:
            return True
        meant = behind if record.is_interface else [type_id]
        return any(self._symbols.method(each, name) for each in meant for name in DATA)

    def _is_option(self, owner: str, record: FieldRecord) -> bool:
        for assigned in record.values:
            value = assigned.value
            if isinstance(value, Call) and assigned.function.endswith("<body>"):
                callee = self._symbols.static(owner.partition(":")[0], value.func)
                flag = self._names.option(callee.name) if isinstance(callee, Builtin) else ""
                if flag and dict(value.keywords).get(flag) == Const(True):
                    return True
        return False

    def _is_lazy(self, owner: str, record: FieldRecord) -> bool:
        """Whether a field is empty until somebody asks, and keeps the answer, by its name."""
        begins = [v for v in record.values if v.value == Const(None)]
        later = any(v.value != Const(None) and not _is_initial(v.function) for v in record.values)
        later = later or record.name in self._symbols.stored_from_outside  # by a class method
        return bool(begins) and later and self._names.says(record.name, "cache") and self._is_data(owner, record)

    def _is_data(self, owner: str, record: FieldRecord) -> bool:
        return not isinstance(self._types.field(owner, record.name), ClassType)

    def _is_replaced(self, owner: str, record: FieldRecord) -> bool:
        """Whether a method puts another container in a field's place, one that is not empty.

        What the setter of a property does is an assignment by others: whose object that is, they know.
        """
        return any(
            not (_is_initial(v.function) or v.function.endswith(SETTER))
            and not (isinstance(v.value, Build) and not v.value.parts)
            for v in record.values
            if v.value != Const(None)
        )

    def _watches(self, owner: str) -> bool:
        """Whether a class, or one that it inherits from, follows what changes elsewhere."""
        if owner not in self._watchers:
            line = [a.type for a in self._symbols.ancestors(owner) if isinstance(a, TypeValue)]
            family = {*line, *self._symbols.subtypes(owner)}
            self._watchers[owner] = any(
                function.startswith(f"{member}.") for function in self._hints.watching for member in family
            )
        return self._watchers[owner]

    def _global(self, module: str, name: str) -> Origin | None:
        key = (module, name)
        if key not in self._globals:
            record = self._symbols.content(module).globals.get(name)
            self._globals[key] = self._judge_global(module, record) if record is not None else None
        return self._globals[key]

    def _judge_global(self, module: str, record: FieldRecord) -> Origin | None:
        nowhere, by = Global(module, record.name), f"{module.partition('@')[0]}:{record.name}"
        if self._is_settings(module, record):
            return Origin("setting", nowhere, "", record.name)
        if not self._symbols.sources[module].module.traits.duck_typed:
            return Origin("chosen", nowhere, "", record.name) if is_template(record) else None
        if is_preset(record, MODULE, self._names):  # one for tests is read by tests
            return Origin("default", nowhere, "", by) if self._symbols.sources[module].reported else None
        begins = [v for v in record.values if v.value == Const(None)]
        later = [v for v in record.values if v.function != MODULE]
        lazy = begins and later and self._names.says(record.name, "cache")
        return Origin("lazy", nowhere, module, by) if lazy else None

    def _is_settings(self, module: str, record: FieldRecord, links: int = LINKS) -> bool:
        """Whether a variable is an object made of settings, maybe through other modules."""
        if len(record.values) != 1 or links <= 0:
            return False
        match self._symbols.static(module, record.values[0].value):
            case Builtin(name=name):
                return name in self._names.settings
            case Global(module=other, name=name):
                found = self._symbols.content(other).globals.get(name)
                return found is not None and self._is_settings(other, found, links - 1)
            case _:
                return False

    def record(self, start: Value) -> FieldRecord | None:
        """The declaration of a variable or field."""
        if isinstance(start, Param):
            preset = self._default(start)
            return self.record(preset) if preset is not None else None
        if isinstance(start, Global):
            return self._symbols.content(start.module).globals.get(start.name)
        if not isinstance(start, Field):
            return None
        owner = start.base.type if isinstance(start.base, TypeValue) else self._types.class_of(start.base)
        owner = owner or next(iter(self._symbols.field_owners(start.name)), None)
        declared = self._symbols.field(owner, start.name) if owner else None
        return declared[1] if declared else None


def _is_initial(function: str) -> bool:
    return function.endswith((".__init__", "<body>")) or function == MODULE
