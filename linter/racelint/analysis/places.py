"""Places and locks of the whole program: what two paths in two functions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from racelint.analysis.effects import CallSite
from racelint.analysis.lent import Lent
from racelint.analysis.locking import lock_entry, sounds_like_lock
from racelint.analysis.paths import rebased, root
from racelint.analysis.state import FLAG, MAYBE_HELD, TASK_FLAG, Held
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import TypeOf, project_class
from racelint.analysis.types import ClassType, LibraryType, Types
from racelint.analysis.usage import Usage
from racelint.analysis.values import Builtin, Captured, Element, Field, Fresh, Global, Member, Param, TypeValue, Value
from racelint.knowledge import Knowledge
from racelint.model import Assigned, Attr, Call, Const, Expr, Name, Op
from racelint.model import Field as FieldRecord
from racelint.record import Record

if TYPE_CHECKING:
    from racelint.analysis.parts import Parts

ASYNC = "~"  # marks locks between tasks
SHARED_SIDE = "^"  # marks the side of a lock that does not exclude itself
FLAG_MARK = "@"  # marks flags that keep others out
SOME_WAYS = "%"  # marks locks that are held on one way only: whether they exclude anybody is open
MARKS = {
    "async": ASYNC,
    FLAG: FLAG_MARK,
    TASK_FLAG: f"{ASYNC}{FLAG_MARK}",
    "shared": SHARED_SIDE,
    MAYBE_HELD: SOME_WAYS,
}
ANY_LOCK = "?"  # a lock of which nothing is known: it may be any

PER_THREAD = frozenset({"threading.local", "gevent.local.local", "eventlet.corolocal.local"})


class Place(Record):
    """What is accessed: a field of a type, a module's variable or a captured one; `depth` counts element levels."""

    kind: str  # "field", "static", "global", "captured"
    owner: str
    name: str
    depth: int = 0


class Located(Record):
    """A path as a place; `type` is the class of the object, `own` says that it is the method's own instance.

    `constructed` says that a chain of fields leads there that the object itself fills, so that it shares nothing that
    the object does not share; `certain` is false if the class was found by the field's name.
    """

    place: Place
    type: str
    own: bool
    constructed: bool
    certain: bool


class Places:
    """Finds the place of a path and the name of a lock; memoised."""

    def __init__(
        self,
        symbols: Symbols,
        types: Types,
        knowledge: Knowledge,
        given_locks: Mapping[tuple[str, str], Value] | None = None,
        usage: Usage | None = None,
        parts: Parts | None = None,
    ) -> None:
        self._symbols = symbols
        self.types = types
        self.parts = parts
        self._concurrency = knowledge.concurrency
        self.knowledge = knowledge
        self._located: dict[Value, Located | None] = {}
        self._locks: dict[Value, str] = {}
        self._asked: set[tuple[str, str]] = set()  # fields of which the lock is being found
        self._given: dict[Param, Value] = {}
        self._handed: dict[Param, set[Fresh]] = {}
        self._usage = usage
        self._given_locks = given_locks if given_locks is not None else {}
        self._own_fields: dict[tuple[str, str], bool] = {}
        self._lent = Lent(symbols, types, usage)

    def stands_for(self, parameter: Param, value: Value) -> None:
        """A started function's parameter is what it was given; of several starts the first one counts."""
        if type(value) in (Field, Global, Captured):
            self._given.setdefault(parameter, value)

    def hand(self, parameter: Param, made: Fresh) -> None:
        """A started function's parameter is an object that others get, too."""
        self._handed.setdefault(parameter, set()).add(made)

    def is_handed(self, parameter: Param) -> bool:
        """Whether a started function gets an object that others get, too."""
        return parameter in self._handed

    def kind_at(self, path: Value) -> str:
        """How what a started function's parameter leads to behaves as a container, as who starts it knows; "" if that
        is not known.
        """
        start = root(path)
        if not isinstance(start, Param):
            return ""
        given = [self._given[start]] if start in self._given else list(self._handed.get(start, ()))
        kinds = [self.types.container(rebased(path, start, value)) for value in given]
        return kinds[0].kind if len(kinds) == 1 and kinds[0] is not None else ""

    def are_handed_apart(self, first: Param, second: Param) -> bool:
        """Whether two such parameters never are one object."""
        one, two = self._handed.get(first), self._handed.get(second)
        return one is not None and two is not None and one.isdisjoint(two)

    def class_of(self, path: Value) -> str | None:
        """The project's class of what a path leads to."""
        return self.types.class_of(path)

    def type_of(self, place: Place) -> TypeOf | None:
        """The type of a field or of a module's variable; None if it is not known, or the place is another one."""
        if place.depth:
            return None
        match place.kind:
            case "field":
                return self.types.field(place.owner, place.name)
            case "global":
                return self.types.variable(f"{place.owner}:{MODULE}", place.name)
            case _:
                return None

    def kind_of(self, found: TypeOf) -> str:
        """The kind of a container that a type is, "" if it is none."""
        container = self.types.structures.behaviour(found)
        return container.kind if container is not None else ""

    def is_bound(self, parameter: Param) -> bool:
        """Whether it is known what a started function's parameter is."""
        return parameter in self._given

    def is_known_start(self, parameter: Param) -> bool:
        """Whether others have what a started function is given, too."""
        return self.is_handed(parameter) or (self.is_bound(parameter) and not self.is_bound_to_one(parameter))

    def is_bound_to_one(self, parameter: Param) -> bool:
        """Whether what a started function was given was taken out of a container: each start has another one."""
        path = self._given.get(parameter)
        while isinstance(path, Field):
            path = path.base
        return isinstance(path, Element | Member)

    def locate(self, path: Value) -> Located | None:
        """The place of a path; None if nobody knows whose it is, or if it is each context's own."""
        if path not in self._located:
            self._located[path] = self._locate(path)
        return self._located[path]

    def of_lock(self, path: Value) -> Place | None:
        """Where a lock itself is kept, which `locate` passes over; None if nobody knows whose that is."""
        match path:
            case Global(module=module, name=name):
                return Place("global", module, name)
            case Field(base=base, name=name):
                owner = base.type if isinstance(base, TypeValue) else self.types.class_of(base)
                return Place("field", self._declarer(owner, name), name) if owner is not None else None
            case _:
                return None

    def excludes_threads(self, path: Value) -> bool:
        """Whether a path leads to a library's lock between threads."""
        found = self.types.of(path)
        row = self._concurrency.locks.get(found.name) if isinstance(found, LibraryType) else None
        return row is not None and row.kind == "exclusive"

    def has_one_for_each_thread(self, path: Value) -> bool:
        """Whether a path leads to something that gives each thread attributes of its own."""
        found = self.types.of(path)
        return isinstance(found, LibraryType) and found.name in PER_THREAD

    def has_lock_of_tasks(self, type_id: str) -> bool:
        """Whether objects of a type have a lock between tasks: several of them use one object at once."""
        return any(self._concurrency.locks[name].kind == "async" for name in self.locks_of(type_id))

    def locks_of(self, type_id: str) -> list[str]:
        """The types of a library's locks that objects of a type have in their fields."""
        if type_id not in self._symbols.types:
            return []
        line = [each.type for each in self._symbols.ancestors(type_id) if isinstance(each, TypeValue)]
        fields = [name for own in line for name in self._symbols.types[own][1].fields]
        found = [self.types.field(type_id, name) for name in fields]
        names = [each.name for each in found if isinstance(each, LibraryType)]
        return [name for name in names if name in self._concurrency.locks]

    def _locate(self, path: Value) -> Located | None:
        depth = 0
        while isinstance(path, Element | Member):
            path, depth = path.base, depth + 1
        if isinstance(path, Param) and path in self._given:
            return self._as_given(path, depth)
        match path:
            case Global(module=module, name=name):
                safe = self._is_safe(path)
                return None if safe else Located(Place("global", module, name, depth), "", False, False, True)
            case Captured(function=function, name=name):
                passed = self._passed(function, name)
                if passed is not None:
                    return passed._replace(place=passed.place._replace(depth=passed.place.depth + depth))
                return Located(Place("captured", function, name, depth), "", False, False, True)
            case Field(base=TypeValue(type=owner), name=name):
                return Located(Place("static", self._declarer(owner, name), name, depth), owner, False, False, True)
            case Field(base=base, name=name):
                return self._field(path, base, name, depth)
            case _:
                return None

    def passed(self, path: Value) -> Located | None:
        """The place of a container that a function was given, if all calls of it pass the same."""
        depth = 0
        while isinstance(path, Element):
            path, depth = path.base, depth + 1
        if not isinstance(path, Param) or self._symbols.is_instance(path):
            return None
        _, function = self._symbols.functions[path.function]
        located = self._passed(path.function, function.parameters[path.index].name)
        if located is None:
            return None
        return located._replace(place=located.place._replace(depth=located.place.depth + depth))

    def _passed(self, function_id: str, name: str) -> Located | None:
        """The place of the container that every call of a function passes for a parameter: a global, or a field of its
        own instance. What other objects have may be another one's at each call.
        """
        source, function = self._symbols.functions[function_id]
        if not source.module.traits.duck_typed:
            return None
        names = [parameter.name for parameter in function.parameters]
        if self._usage is None or name not in names or f"{name}()" in function.bindings or name in function.bindings:
            return None
        found: set[Located | None] = set()
        for values in self._usage.passed(function_id, names.index(name)):
            path = values[0] if len(values) == 1 else None
            own = isinstance(path, Global) or (isinstance(path, Field) and self._symbols.is_instance(path.base))
            is_container = own and path is not None and self.types.container(path) is not None
            found.add(self.locate(path) if path is not None and is_container else None)
        located = found.pop() if len(found) == 1 else None
        return located._replace(own=False, constructed=False) if located is not None else None

    def _as_given(self, parameter: Param, depth: int) -> Located | None:
        """What a started function was given is its starter's, not its own instance's."""
        located = self.locate(self._given[parameter])
        if located is None:
            return None
        place = located.place._replace(depth=located.place.depth + depth)
        return located._replace(place=place, own=False, constructed=False)

    def _field(self, path: Field, base: Value, name: str, depth: int) -> Located | None:
        owner = self.types.class_of(base) or self._class_handed(base) or self._class_given(base)
        certain = owner is not None
        if owner is None:
            owner = self._symbols.only_owner(name) if self.types.of(base) is None else None
            owner = owner if owner is not None and self._may_be_in(base, owner) else None
        if owner is None or self._is_safe(path) or self._is_safe_class(owner):
            return None
        lent = self._lent.source(owner, name)
        if isinstance(lent, Global):
            return Located(Place("global", lent.module, lent.name, depth), "", False, False, True)
        if lent is not None:
            lender, kept = lent
            return Located(Place("field", self._declarer(lender, kept), kept, depth), lender, False, False, certain)
        own = self._symbols.is_instance(base)
        place = Place("field", self._declarer(owner, name), name, depth)
        return Located(place, owner, own, self._is_constructed(base), certain)

    def _class_given(self, base: Value) -> str | None:
        """The class of what lies in something that a started function is given, as who starts it knows it."""
        start = root(base)
        if base == start or not isinstance(start, Param) or start not in self._given:
            return None
        return self.types.class_of(rebased(base, start, self._given[start]))

    def _class_handed(self, base: Value) -> str | None:
        """The class of what a started function is handed, as who makes that knows it."""
        made = self._handed.get(base, ()) if isinstance(base, Param) else ()
        found = {self.types.class_of(value) for value in made}
        return found.pop() if len(found) == 1 else None

    def _may_be_in(self, base: Value, owner: str) -> bool:
        """Whether an object of unknown type may be of a type of the project's, as far as the way to it goes.

        Where types are declared, what lies in a library's struct is not: no library imports the program.
        """
        found, duck_typed = None, self._symbols.types[owner][0].module.traits.duck_typed
        while isinstance(base, Field | Element | Member) and found is None and not duck_typed:
            base = base.base
            found = self.types.of(base)
        library = found.name.rpartition(".")[0] if isinstance(found, LibraryType) and not found.args else ""
        return not library or library in self._symbols.sources

    def _is_constructed(self, base: Value) -> bool:
        """Whether a path runs over fields of the own instance that its class fills with objects of its own."""
        while isinstance(base, Field):
            owner = self.types.class_of(base.base)
            if owner is None or not self.is_own_field(owner, base.name):
                return False
            base = base.base
        return self._symbols.is_instance(base)

    def is_own_field(self, owner: str, name: str) -> bool:
        """Whether a class itself makes what it keeps in a field."""
        key = (owner, name)
        if key not in self._own_fields:
            declared = self._symbols.field(owner, name)
            if self._symbols.types[owner][1].by_value:
                found = self.types.field(owner, name)
                self._own_fields[key] = isinstance(found, ClassType) and found.value
                return self._own_fields[key]
            made = [a for a in declared[1].values if a.value != Const(None)] if declared else []
            self._own_fields[key] = declared is not None and all(self._makes(declared[0], value) for value in made)
        return self._own_fields[key]

    def holder(self, value: Value | None, own_type: str = "") -> str:
        """The field that holds an object, "Type.field": marked "=" if its type makes what it keeps, with "[]" for what
        is in a container there. "" if that is not known. `own_type` is the class of a method's own instance.
        """
        inner = value
        while isinstance(inner, Element | Member):
            inner = inner.base
        if not isinstance(inner, Field):
            return ""
        owner = inner.base.type if isinstance(inner.base, TypeValue) else self.types.class_of(inner.base)
        if owner is None:
            return ""
        duck = self._symbols.types[owner][0].module.traits.duck_typed
        if inner is not value and not duck:
            return ""
        if duck and self._symbols.is_instance(inner.base) and own_type in self._symbols.subtypes(owner):
            owner = own_type
        if inner is not value:
            return f"{owner}.{inner.name}[]"
        return f"{'=' if self.is_own_field(owner, inner.name) else ''}{owner}.{inner.name}"

    def is_exact(self, value: Value) -> bool:
        """Whether an object is of its class and none below: a field that is only ever given what that class makes."""
        owner = self.types.class_of(value.base) if isinstance(value, Field) else None
        made = self.types.class_of(value)
        declared = self._symbols.field(owner, value.name) if owner and isinstance(value, Field) else None
        if declared is None or made is None or declared[1].annotation is not None:
            return False
        module, values = declared[0].partition(":")[0], [a for a in declared[1].values if a.value != Const(None)]
        return bool(values) and all(
            isinstance(a.value, Call) and self._symbols.meant(f"{module}:{a.function}", a.value.func) == TypeValue(made)
            for a in values
        )

    def is_whole(self, path: Value) -> bool:
        """Whether a path leads to a struct itself, and not to a pointer to one."""
        found = self.types.of(path)
        return isinstance(found, ClassType) and found.value

    def is_inside(self, base: Value, name: str) -> bool:
        """Whether a field's object is part of the object that has the field."""
        owner = self.types.class_of(base)
        return owner is not None and self.is_own_field(owner, name)

    def _makes(self, owner: str, assigned: Assigned) -> bool:
        if not isinstance(assigned.value, Call):
            return False
        maker = f"{owner.partition(':')[0]}:{assigned.function}"
        return isinstance(self._symbols.meant(maker, assigned.value.func), TypeValue | Builtin)

    def _declarer(self, owner: str, name: str) -> str:
        """The topmost type in the line that has a field: subclasses share it."""
        found = owner
        for declarer, _ in self._symbols.field_records(owner, name):
            found = declarer
        return found

    def _is_safe(self, path: Value) -> bool:
        """Whether what is there synchronises itself, or is itself what synchronises."""
        found = self.types.of(path)
        if isinstance(found, LibraryType):
            return found.name in self._concurrency.safe or found.name in self._concurrency.locks
        return isinstance(found, ClassType) and self._is_safe_class(found.type)

    def is_safe(self, path: Value) -> bool:
        """Whether a path leads to what synchronises itself or others: it is no place for that reason."""
        owner = self.types.class_of(path.base) if isinstance(path, Field) else None
        return self._is_safe(path) or (owner is not None and self._is_safe_class(owner))

    def _is_safe_class(self, type_id: str) -> bool:
        line = self._symbols.ancestors(type_id)
        return any(isinstance(a, Builtin) and a.name in self._concurrency.safe for a in line)

    def related(self, first: str, second: str) -> bool:
        """Whether one object can be of both classes."""
        if not first or not second or first == second:
            return True
        below, others = self._symbols.subtypes(first), self._symbols.subtypes(second)
        return second in below or first in others or not below.isdisjoint(others)

    # --- locks --------------------------------------------------------------------------------------------------------

    def binder(self, function_id: str, name: str) -> str | None:
        """The enclosing function that binds a captured name."""
        return self.types.binder(function_id, name)

    def lock(self, value: Value) -> str:
        """The name of a lock; two locks of one name may be the same, `ANY_LOCK` may be any."""
        if value not in self._locks:
            self._locks[value] = ANY_LOCK  # cut cycles
            self._locks[value] = self._lock(value)
        return self._locks[value]

    def locks(self, held: tuple[Held, ...]) -> frozenset[str]:
        """The names of locks that are held; those of an event loop's tasks are marked, they exclude no thread."""
        names = {f"{MARKS.get(h.kind, '')}{self.lock(h.lock)}" for h in held}
        if any(h.kind == "unknown" and not isinstance(h.lock, Element) for h in held):
            names.add(ANY_LOCK)  # a lock by its name only may be another one's underlying lock
        return frozenset(names)

    def locks_at(self, site: CallSite) -> frozenset[str]:
        """The names of locks that are held at a call, as well those that one statement takes in each turn of a loop.

        `b := s.bufs[i]; i = (i + 1) % len(s.bufs); b.mu.Lock()`: by its path that is another lock in the second turn.
        """
        held = self.locks(site.held)
        if not site.turns:
            return held
        turns = [{(each.taken, name) for each in turn for name in self.locks((each,))} for turn in site.turns]
        return held | {name for _, name in set.intersection(*turns)}

    def _lock(self, value: Value) -> str:
        if isinstance(value, Param):
            value = self._given.get(value, value)
        match value:
            case Field(base=TypeValue(type=owner), name=name):
                return self._lock_of_field(owner, name)
            case Field(base=base, name=name):
                owner_type = self.types.class_of(base)
                if owner_type is None:
                    return f"{ANY_LOCK}.{name}"
                outer = self._lock(base) if self._is_lock_alone(owner_type) else ANY_LOCK
                return self._lock_of_field(owner_type, name) if outer.startswith(ANY_LOCK) else outer
            case Element(base=base, key=key):
                inner, name = self._lock(base), lock_entry(key)
                if name and not sounds_like_lock(inner.rpartition(".")[2]):
                    inner = f"{inner}.{name}"  # of several in one object each is another one
                return inner if inner == ANY_LOCK else f"{inner}[]"
            case Global(module=module, name=name):
                record = self._symbols.content(module).globals.get(name)
                under = self._underlying(module, MODULE, record) if record else None
                return under or f"{module}:{name}"
            case Captured(function=function, name=name):
                return self._lock_in_variable(function, name) or f"{function}.{name}"
            case Fresh(site=site):
                return f"{site.function}:{site.span.line}"
            case Builtin(name=name):
                return name
            case _:
                return ANY_LOCK

    def _lock_in_variable(self, function_id: str, name: str) -> str | None:
        """The lock in an object's field that a variable stands for, and for no other ever: `mu := &s.mu`."""
        bound = self._symbols.functions[function_id][1].bindings.get(name, ())
        found = bound[0] if len(bound) == 1 else None
        if isinstance(found, Op) and found.operator == "address":
            found = found.operands[0]
        if not isinstance(found, Attr):
            return None
        owner = project_class(self.types.expressions.of(function_id, found.base))
        known = owner is not None and self._symbols.field(owner, found.name) is not None
        return self._lock_of_field(owner, found.name) if owner is not None and known else None

    def _is_lock_alone(self, type_id: str) -> bool:
        """Whether a type is another name for a lock, `type Mutex struct { sync.Mutex }`: who has one has that lock."""
        record = self._symbols.types[type_id][1]
        return len(record.embedded) == len(record.fields) == 1

    def lock_of_field(self, owner: str, name: str) -> str:
        """The name of a lock in a field of a type."""
        return self._lock_of_field(owner, name)

    def declarer(self, owner: str, name: str) -> str:
        """The topmost type in the line that has a field."""
        return self._declarer(owner, name)

    def _lock_of_field(self, owner: str, name: str) -> str:
        """The name of a lock in a field; `self.lock = Traced(self.lock)` and the like stand over themselves."""
        if (owner, name) in self._asked:
            return f"{owner}.{name}"
        self._asked.add((owner, name))
        try:
            return self._found_in_field(owner, name)
        finally:
            self._asked.remove((owner, name))

    def _found_in_field(self, owner: str, name: str) -> str:
        given = self._given_locks.get((owner, name))
        if given is not None:  # another object's lock
            return self.lock(given) if isinstance(given, Field | Global | Captured) else ANY_LOCK
        lent = self._lent.lock(owner, name)
        if lent is not None:
            return self._lock_of_field(*lent)
        found = None
        for declarer, record in self._symbols.field_records(owner, name):
            found = (declarer, record)
        if found is None:
            return f"{owner}.{name}"
        declarer, record = found
        under = self._underlying(declarer.partition(":")[0], "", record, owner)
        return under or f"{declarer}.{name}"

    def _underlying(self, module: str, function: str, record: FieldRecord, owner: str = "") -> str | None:
        """The lock that a condition stands over; a lock that the owner was given may be any."""
        made = False
        for assigned in record.values:
            value = assigned.value
            if isinstance(value, Call):
                made = True
                callee = self._symbols.static(module, value.func)
                row = self._concurrency.locks.get(callee.name) if isinstance(callee, Builtin) else None
                if row is not None and 0 <= row.over < len(value.args):
                    return self._named(value.args[row.over], module, owner)
            if isinstance(value, Call) and owner:  # a factory that is given a lock makes a condition over it
                for arg in value.args:
                    if isinstance(arg, Attr) and isinstance(arg.base, Name) and sounds_like_lock(arg.name):
                        return self._lock_of_field(owner, arg.name)
        given = all(isinstance(a.value, Name) and a.value.scope == "local" for a in record.values)
        return ANY_LOCK if record.values and given and not made else None

    def _named(self, expr: Expr, module: str, owner: str) -> str:
        match expr:
            case Attr(base=Name(scope="local"), name=name) if owner:
                return self._lock_of_field(owner, name)
            case Name(name=name, scope="global"):
                return f"{module}:{name}"
            case Call():
                return ""  # a lock of its own: the condition's name stands for it
            case _:
                return ANY_LOCK


def of_threads(locks: frozenset[str]) -> frozenset[str]:
    """The locks that exclude other threads."""
    return frozenset([lock for lock in locks if not lock.startswith(ASYNC)])


def overlap(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two locksets may share a lock."""
    if not first or not second:
        return False
    if excluding(first, second) or ANY_LOCK in first or ANY_LOCK in second:
        return True
    return _same_name(first, second) or _same_name(second, first)


def excluding(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two locksets have a lock in common that is not held on its shared side by both."""
    for lock in first:
        if lock.startswith(SHARED_SIDE):
            if lock[1:] in second:
                return True
        elif lock in second or f"{SHARED_SIDE}{lock}" in second:
            return True
    return False


def surely(locks: frozenset[str]) -> list[str]:
    """The locks of a set that are held on all ways, sorted."""
    return sorted([lock for lock in locks if not lock.startswith(SOME_WAYS)])


def may_overlap(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two locksets share a lock that one side holds at least, and the other one on some way."""
    return _open(first, second) or _open(second, first)


def _open(perhaps: frozenset[str], other: frozenset[str]) -> bool:
    open_locks = [lock.removeprefix(SOME_WAYS) for lock in perhaps if lock.startswith(SOME_WAYS)]
    return any(
        [lock in other or f"{SHARED_SIDE}{lock}" in other or f"{SOME_WAYS}{lock}" in other for lock in open_locks]
    )


def holds(locks: frozenset[str], lock: str, *, shared: bool) -> bool:
    """Whether a lock is held, or may be: as a whole, or on the side that others may hold, too, if that is enough."""
    held = {each.removeprefix(ASYNC) for each in locks}
    if shared:
        held |= {each.removeprefix(SHARED_SIDE) for each in held}
    lock = lock.removeprefix(ASYNC)
    if lock in held or ANY_LOCK in held:
        return True
    name = lock.rpartition(".")[2]
    return any([each.rpartition(".")[2] == name for each in held if ANY_LOCK in (each[:1], lock[:1])]) or (
        lock == ANY_LOCK and bool(held)
    )


def sides(locks: frozenset[str]) -> frozenset[str]:
    """The locks of threads that are held on either side, without marks."""
    return frozenset([lock.removeprefix(SHARED_SIDE) for lock in of_threads(locks)])


def _same_name(loose: frozenset[str], other: frozenset[str]) -> bool:
    names = [lock.rpartition(".")[2] for lock in loose if lock.startswith(f"{ANY_LOCK}.")]
    return any(lock.rpartition(".")[2] in names for lock in other)
