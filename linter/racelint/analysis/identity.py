"""Identity: whether two accesses to one place may mean one object, by its class, its holder and who locks it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from racelint.analysis.common import Common
from racelint.analysis.concrete import Concrete
from racelint.analysis.contexts import ELSEWHERE, Context, Contexts, Entry, targets
from racelint.analysis.definedtypes import DefinedTypes
from racelint.analysis.effects import Effects
from racelint.analysis.inside import Inside
from racelint.analysis.memory import OF_VARIABLE
from racelint.analysis.objects import MAYBE, SHARED
from racelint.analysis.paths import holder, object_of, root
from racelint.analysis.places import Place, Places, of_threads
from racelint.analysis.renewing import Renewing, core
from racelint.analysis.spots import Spot
from racelint.analysis.symbols import MODULE, Symbols
from racelint.analysis.type_names import ClassType
from racelint.analysis.values import (
    Captured,
    Element,
    Field,
    Fresh,
    FunctionValue,
    Global,
    Member,
    Param,
    Result,
    Value,
)
from racelint.analysis.ways import MOST_CALLS, Ways
from racelint.model import Attr, Call, Expr, Make, Name, Op
from racelint.record import records
from racelint.span import Span


class Identity:
    """Compares the objects of two accesses."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], places: Places, contexts: Contexts, ways: Ways
    ) -> None:
        self._symbols = symbols
        self._effects = effects
        self._places = places
        self._contexts = contexts
        self._ways = ways
        self._concrete = Concrete(symbols, effects, contexts)
        self._common = Common(symbols)
        self._inside = Inside(symbols, places)
        self._defined = DefinedTypes(symbols, effects, places, contexts)
        self._renewing = Renewing(symbols, effects, places, contexts)
        self._sites = Counter(type_id for done in effects.values() for _, type_id in done.made)
        self._alone: dict[Global, bool] = {}  # variables whose objects are part of nothing
        self._pointed: dict[str, set[tuple[str, str]]] = {}  # variables, each with a method that is called on it
        lent = {owner for done in effects.values() for owner in done.given_back}
        self._lent = lent.union(*[symbols.subtypes(owner) for owner in lent])
        self._made: dict[str, set[str]] = defaultdict(set)  # by a type, the functions that make objects of it
        for function, done in effects.items():
            for _, type_id in done.made:
                self._made[type_id].add(function)

    def are_borrowed(self, first: Spot, second: Spot) -> bool:
        """Whether the objects are of types, or parts of such, that are taken out of pools for each use."""
        return all(any(owner in self._lent for owner in self.owners(spot)) for spot in (first, second))

    def is_family(self, first: str, second: str) -> bool:
        """Whether two types are known, and one is the other or inherits from it."""
        return bool(first) and bool(second) and self._places.related(first, second)

    def are_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two methods that use their own instance are of classes that no object has both of."""
        owners = [self._symbols.owner_of(spot.function) for spot in (first, second)]
        return first.located.own and second.located.own and not self._places.related(*owners)

    def may_be_two(self, first: Spot, second: Spot) -> bool:
        """Whether a type has several objects, and each side reaches its own by another way."""
        if self._symbols.is_ordered_by_steps(first.function) or self._times_made(first.located.type) < 2:
            return False
        if first.located.place.kind != "field":
            return False
        one, two = self._held_by(first), self._held_by(second)
        return bool(one and two) and not self._is_same_holder(one, two)

    def _times_made(self, type_id: str) -> int:
        """In how many places objects of a type, or of one below it, are made."""
        return sum(self._sites[each] for each in {type_id, *self._symbols.subtypes(type_id)})

    def _held_by(self, spot: Spot) -> str:
        """The field that holds the object at hand."""
        path = spot.access.path
        while isinstance(path, Element | Member):
            path = path.base
        if spot.located.own or not isinstance(path, Field):
            return spot.entry.origin
        return self._places.holder(path.base, spot.entry.type) or ELSEWHERE

    def _is_same_holder(self, first: str, second: str) -> bool:
        """Whether two fields are one: of one class, or of a class and one below."""
        one, two = first.lstrip("="), second.lstrip("=")
        if one == two:
            return True
        (owner, _, name), (other, _, named) = one.rpartition("."), two.rpartition(".")
        return name == named and self._places.related(owner, other)

    def never_one(self, first: Spot, second: Spot) -> bool:
        """Whether no object makes both accesses, each as its own: a class overrides a method on the way to one."""
        if not (first.located.own and second.located.own):
            return False
        classes = self._concrete.classes
        return classes(first.function, first.entry).isdisjoint(classes(second.function, second.entry))

    def held_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two objects of one type were found in two fields: two objects, as far as can be told.

        Not so where one function has put one object into both.
        """
        if first.located.type in self._contexts.singles or self._share(first, second):
            return False
        if any(one != two for one, two in zip(self._homes(first), self._homes(second), strict=False)):
            return True
        return self._renewing.are_apart(first, second)

    def is_by_itself(self, first: Spot, second: Spot) -> bool:
        """Whether one side's object is a variable of a function, of which no pointer leads away, and the other's not.

        `func dial(dest Destination) { go func() { dest.Address = resolve(dest) }() }`: the struct is the call's own. Or
        it is a module's variable, and the other one lies in a field: `if user == Nobody.Name`, `s.user = user`.
        """
        if self._is_no_part(first, second) or self._is_no_part(second, first):
            return True
        if not {first.access.kind, second.access.kind} <= OF_VARIABLE:
            return False  # a map in a copy is the very same
        one, two = self._own_variable(first), self._own_variable(second)
        if one != two and (one is not None or two is not None):
            return True
        return self._lies_in_field(first, second) or self._lies_in_field(second, first)

    def _lies_in_field(self, inner: Spot, whole: Spot) -> bool:
        """Whether an object is part of one that has it in a field, and the other one is a module's variable, or as deep
        in that as it can be: what a variable holds by value is part of nothing else.
        """
        variable = self._variable(whole)
        if variable is None or not self._is_value(variable) or self._variable(inner) is not None:
            return False
        return sum(1 for _ in self._own_homes(inner)) > sum(1 for _ in self._own_homes(whole))

    def _is_no_part(self, whole: Spot, inner: Spot) -> bool:
        """Whether an object is what a module's variable leads to, made by itself, and the other one lies in a struct.

        `var known = newTable()`, with `type cache struct { recent table }`: no cache's table is the known one.
        """
        variable = self._variable(whole)
        if variable is None or next(self._homes(whole), None) is not None or next(self._own_homes(inner), None) is None:
            return False
        if variable not in self._alone:
            self._alone[variable] = self._is_made_alone(variable)
        return self._alone[variable]

    def _is_made_alone(self, variable: Global) -> bool:
        """Whether a module's variable holds nothing but what is made as it is declared, as a part of nothing else."""
        record = self._symbols.content(variable.module).globals.get(variable.name)
        if record is None or not record.values or self._is_value(variable):
            return False
        later = [done for each, done in self._effects.items() if not each.endswith(f":{MODULE}")]
        if any([a.kind == "store" and a.path == variable for done in later for a in done.all_accesses()]):
            return False
        made = [(f"{variable.module}:{assigned.function}", assigned.value) for assigned in record.values]
        return all([self._makes_alone(function, value) for function, value in made])

    def _makes_alone(self, function: str, value: Expr) -> bool:
        """Whether an expression takes the address of what it makes, or calls what returns nothing else."""
        if isinstance(value, Op) and value.operator == "address":
            return isinstance(value.operands[0], Make)
        callee = self._symbols.meant(function, value.func) if isinstance(value, Call) else None
        if not isinstance(callee, FunctionValue):
            return False
        bindings = self._symbols.functions[callee.function][1].bindings
        found = [
            each
            for given in bindings.get("return", ())
            for each in (bindings.get(given.name, (given,)) if isinstance(given, Name) else (given,))
        ]
        made = [each for each in found if isinstance(each, Op) and self._makes_alone(callee.function, each)]
        return bool(found) and len(made) == len(found)

    def _own_homes(self, spot: Spot) -> Iterator[str]:
        """The fields that have an access's object as a part, outward."""
        for home in self._homes(spot):
            owner, _, name = home.rpartition(".")
            if not self._places.is_own_field(owner, name):
                return
            yield home

    def _own_variable(self, spot: Spot) -> tuple[str, str] | None:
        """The variable that is the object of an access, or has it as a part; its function and its name."""
        path = object_of(spot.access.path)
        while isinstance(path, Field) and self._places.is_inside(path.base, path.name):
            path = path.base
        if isinstance(path, Fresh):  # a parameter that is a copy anyway
            function = self._symbols.functions[path.site.function][1]
            kind = path.type.rpartition(":")[2]
            names = [p.name for p in function.parameters if p.annotation and p.annotation.name.endswith(kind)]
            if path.site.span != function.span or any(self._is_pointed_to(path.site.function, n, path) for n in names):
                return None
            return path.site.function, ""
        if not isinstance(path, Captured | Param) or not self._places.is_whole(path):
            return None
        parameters = self._symbols.functions[path.function][1].parameters
        name = path.name if isinstance(path, Captured) else parameters[path.index].name
        return None if self._is_pointed_to(path.function, name, path) else (path.function, name)

    def _is_pointed_to(self, function: str, name: str, path: Value) -> bool:
        """Whether a function makes a pointer to a variable, or to a part of it: also for methods that take one."""
        if function not in self._pointed:
            inner = [each for each in self._effects if f"{each}.".startswith(f"{function}.")]
            nodes = [node for each in inner for node in records(self._symbols.functions[each][1].body)]
            found = {(_variable_of(n.operands[0]), "") for n in nodes if isinstance(n, Op) and n.operator == "address"}
            for node in nodes:
                if isinstance(node, Call) and isinstance(node.func, Attr):
                    direct = isinstance(node.func.base, Name)
                    found.add((_variable_of(node.func.base), node.func.name if direct else ""))
            self._pointed[function] = found
        owner = self._places.class_of(path) or ""
        return any(n == name and (not m or not self._is_of_copy(owner, m)) for n, m in self._pointed[function])

    def _is_of_copy(self, type_id: str, name: str) -> bool:
        """Whether a method of a type is called on a copy of the object: `func (d Destination) String() string`."""
        method = self._symbols.method(type_id, name)
        parameters = self._symbols.functions[method][1].parameters if method is not None else ()
        return bool(parameters) and parameters[0].annotation is not None and parameters[0].annotation.name != "*"

    def are_of_two_variables(self, first: Spot, second: Spot) -> bool:
        """Whether the objects are what two variables of modules hold, or parts of it, and each holds one of its own."""
        one, two = self._variable(first), self._variable(second)
        return one is not None and two is not None and one != two and self._has_own(one) and self._has_own(two)

    def are_of_one_variable(self, first: Spot, second: Spot) -> bool:
        """Whether both objects are what one variable of a module holds, or parts of that."""
        variable = self._variable(first)
        return variable is not None and variable == self._variable(second)

    def _variable(self, spot: Spot) -> Global | None:
        """The module's variable that holds the object of an access, or has it as a part."""
        path, function, entry = object_of(spot.access.path), spot.function, spot.entry
        for _ in range(MOST_CALLS):
            while isinstance(path, Field) and self._places.is_inside(path.base, path.name):
                path = path.base
            if isinstance(path, Global):
                return path
            came = self._contexts.came(function, entry)
            if not isinstance(path, Param) or path.function != function:
                return None
            if came is None:
                started = self._started_on(self._contexts.roots[entry.context])
                return started if path.index == 0 and isinstance(started, Global) else None
            path = holder(self._contexts.given(came, function, path))
            function, entry = came.caller, came.entry
        return None

    def _started_on(self, context: Context) -> Value | None:
        """The object whose method a context runs, in the terms of what starts it."""
        starts = self._effects[context.starter].starts.values() if context.starter in self._effects else ()
        started = [target for start in starts if start.span == context.span for target in targets(start.callee)]
        if len(started) > 1 and context.receiver == SHARED:  # `if k == nil { k = newKeeper() }; go k.run()`
            started = [target for target in started if not isinstance(target.receiver, Fresh)]
        return started[0].receiver if len(started) == 1 else None

    def _has_own(self, variable: Global) -> bool:
        """Whether a module's variable is an object itself, or is only ever given new ones."""
        record = self._symbols.content(variable.module).globals.get(variable.name)
        if record is None:
            return False
        if self._is_value(variable):
            return True
        made = [core(assigned.value) for assigned in record.values]
        return bool(made) and all(isinstance(value, Make) or _is_making(value) for value in made)

    def _is_value(self, variable: Global) -> bool:
        """Whether a module's variable is an object itself."""
        found = self._places.type_of(Place("global", variable.module, variable.name))
        return isinstance(found, ClassType) and found.value

    def made_by_two(self, first: Spot, second: Spot) -> bool:
        """Whether each side's object was made by another function, which has started on it what leads there."""
        one, two = self._made_by(first), self._made_by(second)
        if one is None or two is None:
            return False
        return one != two and (one[0] != two[0] or type(one[1]) is type(two[1]))

    def is_kept_inside(self, first: Spot, second: Spot) -> bool:
        """Whether only a variable of one side's leads to its object, and the other side has not got it from there."""
        one, two = self._made_by(first), self._made_by(second)
        return one != two and any(
            [made is not None and self._stays_inside(*made) and not self._leads_to(made[0], other)
             for made, other in ((one, second), (two, first))]
        )  # fmt: skip

    def _leads_to(self, function_id: str, spot: Spot) -> bool:
        """Whether a function, or one in it, leads to an access, or to the start of what makes it."""
        family = [each for each in self._effects if f"{each}.".startswith(f"{function_id}.")]
        if any([spot.entry.context in self._contexts.started_under.get(each, ()) for each in family]):
            return True
        callers = [caller for caller, _ in self._contexts.steps(spot.function, spot.entry, spot.access.span)]
        return not {spot.function, *callers}.isdisjoint(family)

    def _stays_inside(self, function_id: str, name: str | Span) -> bool:
        """Whether a variable holds nothing but what is made for it, and nobody gets that from there."""
        if not isinstance(name, str) or not self._inside.stays(function_id, name):
            return False
        bound = self._symbols.functions[function_id][1].bindings.get(name, ())
        return all([self._renewing.is_new(function_id, core(expr)) for expr in bound])

    def is_of_one_maker(self, first: Spot, second: Spot) -> bool:
        """Whether one function has made the object of both sides, for one variable, as it starts what leads there."""
        made = self._made_by(first)
        return made is not None and made == self._made_by(second)

    def _made_by(self, spot: Spot) -> tuple[str, str | Span] | None:
        """The function that has made an access's object, as it starts what leads there, and for which variable.

        The spot where it is made, if others do not know it by a variable; nothing if it is not known.
        """
        path: Value | None = object_of(spot.access.path)
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            while isinstance(path, Field) and self._places.is_inside(path.base, path.name):
                path = path.base
            if isinstance(path, Captured) and path.function != function:
                _, maker = self._symbols.functions[path.function]
                bound = maker.bindings.get(path.name, ())
                made = [i for i in map(core, bound) if isinstance(i, Make) or _is_making(i) or _is_copy(i)]
                return (path.function, path.name) if bound and len(made) == len(bound) else None
            if isinstance(path, Fresh):
                return path.site.function, path.site.span
            came = self._contexts.came(function, entry)
            if came is None or not isinstance(path, Param) or path.function != function:
                return None
            path = holder(self._contexts.given(came, function, path))
            function, entry = came.caller, came.entry
        return None

    def owners(self, spot: Spot) -> Iterator[str]:
        """The type of an access's object, and outward those of what has it in a field."""
        yield spot.located.type
        yield from (home.rpartition(".")[0] for home in self._homes(spot))

    def _homes(self, spot: Spot) -> Iterator[str]:
        """The field in which an access's object was found, "Type.field", and outward those that have it as a part."""
        path = object_of(spot.access.path)
        function, entry = spot.function, spot.entry
        for _ in range(MOST_CALLS):
            if isinstance(path, Field):
                owner = self._places.class_of(path.base)
                if owner is None:
                    return
                yield f"{owner}.{path.name}"
                if not self._places.is_own_field(owner, path.name):
                    return
                path = holder(path.base)
                continue
            instance = isinstance(path, Param | Captured) and self._symbols.is_instance_of(path)
            if instance and entry.origin and not entry.origin.startswith("="):
                yield entry.origin
                return
            came = self._contexts.came(function, entry)
            if came is not None and isinstance(path, Captured) and path.function == came.caller != function:
                path, function, entry = self._parameter(path), came.caller, came.entry  # a closure, called in place
                continue
            if came is None or not isinstance(path, Param) or path.function != function:
                return
            path = holder(self._contexts.given(came, function, path))
            function, entry = came.caller, came.entry

    def _parameter(self, variable: Captured) -> Value:
        """The parameter that a captured variable is, if it is one."""
        names = [parameter.name for parameter in self._symbols.functions[variable.function][1].parameters]
        return Param(variable.function, names.index(variable.name)) if variable.name in names else variable

    def is_behind_decorators(self, first: Spot, second: Spot) -> bool:
        """Whether the two sides come by different decorators, behind which any of several types may lie.

        What one of these types has started itself meets whatever else comes to its object.
        """
        one, two = (None if isinstance(root(s.access.path), Global) else s.entry.passed for s in (first, second))
        passed, own = (one, second) if one is not None else (two, first)
        if one == two or passed is None:
            return False
        if one is not None and two is not None:
            return True
        return self._started_by(own).isdisjoint(self._symbols.subtypes(passed.interface))

    def _started_by(self, spot: Spot) -> set[str]:
        """The types whose methods start an access's context or are its root, and those that its starter makes."""
        starter = self._contexts.roots[spot.entry.context].starter
        begin = {self._contexts.root(spot.function, spot.entry), *([starter] if starter is not None else ())}
        found: set[str] = set()
        for function in begin:
            outermost = self._symbols.outermost(function)
            found.add(self._symbols.owner_of(outermost))
            found |= {made for _, made in self._effects[outermost].made} if outermost in self._effects else set()
        return found

    def is_whose(self, spot: Spot) -> bool:
        """Whether it is open whose object an access is of: one of several, or a caller's."""
        return self._symbols.is_ordered_by_steps(spot.function) and spot.receiver == MAYBE

    def is_handed_on(self, spot: Spot) -> bool:
        """Whether the object of an access is what a function was given that has started the access: its caller's."""
        starter = self._contexts.roots[spot.entry.context].starter
        roots = [root(path) for path, _, _ in self._outward(spot)]
        given = [self._parameter(each) for each in roots if isinstance(each, Captured) and each.function == starter]
        return any(isinstance(each, Param) and not self._symbols.is_instance(each) for each in given)

    def goes_through(self, spot: Spot, owner: str) -> bool:
        """Whether the way to an access's object leads through an object of a type: what that one has is meant."""
        for path, _, _ in self._outward(spot):
            inner = path
            while isinstance(inner, Field | Element | Member):
                inner = inner.base
                if self._places.class_of(inner) == owner:
                    return True
        return False

    def _outward(self, spot: Spot) -> Iterator[tuple[Value, str, Entry]]:
        """The object of an access, as the functions on the way to it know it, and those that have started it."""
        todo: list[tuple[Value | None, str, Entry]] = [(spot.access.path, spot.function, spot.entry)]
        for path, function, entry in todo:  # grows
            if path is None:
                continue
            yield path, function, entry
            if len(todo) < MOST_CALLS:
                todo += self._one_out(root(path), function, entry)

    def variables(self, spot: Spot) -> Iterator[tuple[str, str]]:
        """The captured variables through which an access's object was reached: their functions and names."""
        for path, _, _ in self._outward(spot):
            start = root(path)
            if isinstance(start, Captured):
                yield start.function, start.name

    def _one_out(self, start: Value, function: str, entry: Entry) -> Iterator[tuple[Value | None, str, Entry]]:
        """What an object is to who has called a function, or has started it and shares a variable with it."""
        came = self._contexts.came(function, entry)
        if isinstance(start, Param) and start.function == function and came is not None:
            yield self._contexts.given(came, function, start, elements=True), came.caller, came.entry
        if isinstance(start, Result):
            yield self._effects[function].looked_up.get(start), function, entry
        if not isinstance(start, Captured) or start.function == function:
            return
        starter = self._contexts.roots[entry.context].starter
        if came is not None:
            yield self._within(start, came.caller), came.caller, came.entry
        elif starter is not None:
            for around in self._contexts.entries.get(starter, ()):
                yield self._within(start, starter), starter, around

    def _within(self, variable: Captured, function: str) -> Value:
        """What a variable is to a function: a parameter, if it is one of its own."""
        return self._parameter(variable) if variable.function == function else variable

    def runs_on_each(self, first: Spot, second: Spot) -> bool:
        """Whether who makes an object starts one side's context on it: that runs beside the other side on any of them.

        `func New() *Hub { h := &Hub{}; go h.run(); return h }`, if nothing else makes a `Hub`. Two runs of that one
        context are on two of them.
        """
        if first.entry.context == second.entry.context:
            return False
        return self._is_on_each(first) or self._is_on_each(second)

    def _is_on_each(self, spot: Spot) -> bool:
        context = self._contexts.roots[spot.entry.context]
        if context.starter is None or spot.located.place.kind != "field":
            return False
        if self.makers(spot.located.type) != {context.starter}:
            return False
        made = self._made_by(spot)
        starter = made[0] if made is not None else context.starter if self._is_of_new(spot, context) else None
        return starter == context.starter

    def makers(self, type_id: str) -> set[str]:
        """The functions that make objects of a type, or of one below it."""
        return {
            function for each in (type_id, *self._symbols.subtypes(type_id)) for function in self._made.get(each, ())
        }

    def _is_of_new(self, spot: Spot, context: Context) -> bool:
        """Whether a context runs a method of what its starter has made, and an access is of that itself."""
        starts = self._effects[context.starter or ""].starts.values()
        started = [target for start in starts if start.span == context.span for target in targets(start.callee)]
        return spot.located.own and bool(started) and all(isinstance(target.receiver, Fresh) for target in started)

    def settles(self, first: Spot, second: Spot) -> bool:
        """Whether it does not matter which of several objects a side is on."""
        return self.locks_itself(first, second) or self.runs_on_each(first, second) or self._share(first, second)

    def _share(self, first: Spot, second: Spot) -> bool:
        """Whether each side found its object in another field, and the function that has started both sides has put one
        object into both.
        """
        one, two = next(self._homes(first), ""), next(self._homes(second), "")
        contexts = {first.entry.context, second.entry.context}
        if one == two or len(contexts) < 2:
            return False
        under = self._contexts.started_under
        return any(contexts <= under.get(function, frozenset()) for function in self._common.givers(one, two))

    def locks_itself(self, first: Spot, second: Spot) -> bool:
        """Whether a write holds a lock of the object itself, and no function leads to both: one goroutine's own."""
        if not self._symbols.is_ordered_by_steps(first.function):
            return False
        if not (_holds_own_lock(first) or _holds_own_lock(second)):
            return False
        return self._ways.functions(first).isdisjoint(self._ways.functions(second))

    def is_apart_by_class(self, first: Spot, second: Spot) -> bool:
        """Whether no class above or below the one of the first object is that of the second."""
        return not self._places.related(_class(first), _class(second))

    def made_apart(self, first: Spot, second: Spot) -> bool:
        """Whether two fields hold objects that each field's owner makes itself: they are two objects.

        So are what two unrelated classes keep in the field that both have from one above them, what is handed to one
        started function and to another one, and what comes by two types that are defined by one struct type.
        """
        if self._defined.are_apart(first, second):
            return True
        mine, theirs = root(first.access.path), root(second.access.path)
        if isinstance(mine, Param) and isinstance(theirs, Param) and self._places.are_handed_apart(mine, theirs):
            return True
        if not (first.located.own and second.located.own):
            return False
        one, two = first.entry.origin, second.entry.origin
        if one.startswith("=") and two.startswith("="):
            return not self._is_same_holder(one, two)
        (owner, _, name), (other, _, named) = one.rpartition("."), two.rpartition(".")
        return bool(owner) and name == named and self._inherit_one(owner, other, name.removesuffix("[]"))

    def _inherit_one(self, first: str, second: str, name: str) -> bool:
        """Whether two unrelated classes have a field from the same class above them."""
        if first.startswith("=") or second.startswith("=") or self._places.related(first, second):
            return False
        if self._symbols.class_variable(first, name) is not None:
            return False  # all of them share it
        fields = [self._symbols.field(owner, name) for owner in (first, second)]
        return fields[0] is not None and fields[1] is not None and fields[0][0] == fields[1][0]


def _holds_own_lock(spot: Spot) -> bool:
    """Whether a write is made under a lock of the object itself: its author thinks that others have it, too."""
    if not spot.is_write or spot.located.place.kind != "field":
        return False
    owner = spot.located.place.owner
    return any(lock.rpartition(".")[0] == owner for lock in of_threads(spot.locks))


def _variable_of(expr: Expr) -> str:
    """The variable of which an expression is a part, "" if it is none."""
    while isinstance(expr, Attr):
        expr = expr.base
    return expr.name if isinstance(expr, Name) else ""


def _is_making(expr: Expr) -> bool:
    """Whether an expression calls what makes something new, by its name: `NewClient(...)`."""
    return isinstance(expr, Call) and isinstance(expr.func, Attr | Name) and expr.func.name.startswith(("New", "new"))


def _is_copy(expr: Expr) -> bool:
    """Whether an expression copies what a pointer leads to: `x := *p`."""
    return isinstance(expr, Op) and expr.operator == "deref"


def _class(spot: Spot) -> str:
    """The class of the object, as near as the way to the access tells."""
    return spot.entry.type if spot.located.own and spot.entry.type else spot.located.type


def is_member(path: Value) -> bool:
    """Whether a field's object was taken out of a container."""
    while isinstance(path, Field | Element | Member):
        if isinstance(path, Field) and isinstance(path.base, Element | Member):
            return True
        path = path.base
    return False
