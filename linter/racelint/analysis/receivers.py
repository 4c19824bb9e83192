"""The instance on which a method is called: its class, where it was reached and what it is to the context."""

from __future__ import annotations

from collections.abc import Set

from racelint.analysis.alive import Alive
from racelint.analysis.contexts import ELSEWHERE, Entry
from racelint.analysis.decorating import Decorating, Passed
from racelint.analysis.effects import CallSite
from racelint.analysis.objects import ALIVE, FRESH, MAYBE, OWN, SHARED, Objects
from racelint.analysis.paths import root
from racelint.analysis.places import Places
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import RESULTS
from racelint.analysis.types import ClassType, Types
from racelint.analysis.values import Captured, Element, Field, Fresh, Global, Member, Param, Result, TypeValue, Value


class Receivers:
    """What is known of a callee's own instance, by the call and the entry state of the caller."""

    def __init__(
        self, symbols: Symbols, types: Types, places: Places, objects: Objects, active: Set[str],
        alive: Alive,
    ) -> None:  # fmt: skip
        """`active` are the types whose methods start a context, or are the root of one."""
        self._symbols = symbols
        self._types = types
        self._places = places
        self._objects = objects
        self._active = active
        self._alive = alive
        self._decorating = Decorating(symbols, types)
        self.is_back = self._decorating.is_back

    def type(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The class of the callee's own instance."""
        match site.receiver:
            case None:
                return ""
            case Param(function=function) as instance if function == caller and self._symbols.is_instance(instance):
                source, record = self._symbols.functions[caller]
                own = f"{source.name}:{record.owner}" if record.owner else ""
                known = entry.type
                return known if known and (not own or known in self._symbols.subtypes(own)) else own or known
            case receiver:
                return self._types.class_of(receiver) or ""

    def origin(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The field that holds the callee's own instance: "Type.field", marked "=" if its type makes what it keeps, and
        `ELSEWHERE` for a variable of which that is not known.
        """
        receiver, by_steps = site.receiver, self._symbols.is_ordered_by_steps(caller)
        if isinstance(receiver, Param) and self._symbols.is_instance(receiver):
            return entry.origin
        if receiver is None and by_steps:
            inside = isinstance(site.callee, str) and site.callee.startswith(f"{caller}.")
            return entry.origin if inside else ""  # a closure, called in place
        if by_steps and isinstance(receiver, Captured) and self._symbols.is_captured_instance(receiver):
            return entry.origin  # of the method around
        if isinstance(receiver, Fresh) and by_steps and not self._is_spread(caller, receiver):
            return self._places.holder(site.holder, entry.type) or self._only_holder(site.holder, receiver)
        return self._places.holder(receiver, entry.type) or ("" if by_steps else ELSEWHERE)

    def constructor(self, entry: Entry, site: CallSite, caller: str) -> str:
        """The constructor that is still at work on the callee's own instance: in Go, who makes an object to return it,
        and has put it nowhere yet.
        """
        if site.receiver is None:
            return ""
        if isinstance(site.receiver, Fresh):
            made_here = site.started and site.holder is None and self._is_factory(caller, site.receiver)
            return caller if made_here else ""
        if not self._symbols.is_instance(site.receiver):
            return ""
        name = self._symbols.functions[caller][1].name
        return entry.constructor or (caller if name == "__init__" and site.started else "")

    def _is_factory(self, function_id: str, made: Fresh) -> bool:
        """Whether a plain function's result is of the type of what it has made."""
        function = self._symbols.functions[function_id][1]
        if function.owner or made.site.function != function_id or not self._symbols.is_ordered_by_steps(function_id):
            return False
        return self._gives(function_id, made)

    def _only_holder(self, path: Value | None, made: Fresh) -> str:
        """The field in which an object has just been put, if its name and its type leave one: "Type.field"."""
        if not isinstance(path, Field):
            return ""
        declared = [(owner, self._types.field(owner, path.name)) for owner in self._symbols.field_owners(path.name)]
        able = [o for o, found in declared if not isinstance(found, ClassType) or self._may_be(made, found.type)]
        return f"{able[0]}.{path.name}" if len(able) == 1 else ""

    def _may_be(self, made: Fresh, type_id: str) -> bool:
        return made.type == type_id or made.type in self._symbols.subtypes(type_id)

    def _is_spread(self, function_id: str, made: Fresh) -> bool:
        """Whether others may find what a function has made in more than one place."""
        return self._objects.is_put_twice(made, function_id) or self._gives(function_id, made)

    def _gives(self, function_id: str, made: Fresh) -> bool:
        """Whether a function's result is of the type of what it has made."""
        written = self._symbols.functions[function_id][1].returns
        results = written.args if written is not None and written.name == RESULTS else (written,)
        found = [self._types.annotations.declared(function_id, ref) for ref in results if ref is not None]
        types = [each.type for each in found if isinstance(each, ClassType)]
        return any(self._may_be(made, each) for each in types)

    def passed(self, entry: Entry, site: CallSite, callee: str) -> Passed | None:
        """The outermost decorator on the way to what a callee works on; a package's variable is the same behind any."""
        if site.receiver is not None and isinstance(root(site.receiver), Global):
            return None
        return entry.passed or self._decorating.passed(site, callee)

    def is_made_by_run(self, entry: Entry, site: CallSite, caller: str) -> bool:
        """Whether what calls a method has made its instance itself, or is called on such a one."""
        if not self._symbols.is_ordered_by_steps(caller):
            return False
        match site.receiver:
            case Fresh(site=made):
                return made.function == caller
            case Captured(function=function) as variable if not self._symbols.is_captured_instance(variable):
                return function == caller
            case None:
                return entry.made and isinstance(site.callee, str) and site.callee.startswith(f"{caller}.")
            case Param() | Captured() as instance:
                return entry.made and self._symbols.is_instance_of(instance)
            case _:
                return False

    def receiver(self, entry: Entry, site: CallSite, caller: str, callee: str) -> int:
        """What the callee's own instance is to the context."""
        if not site.certain:
            return MAYBE
        if self._symbols.is_ordered_by_steps(callee):
            if site.holder is not None and self._objects.of(_whole(site.holder), caller, entry) != FRESH:
                return OWN  # others may find it by now
            if site.started and isinstance(site.receiver, Fresh):
                known = self._objects.is_handed_over(site.receiver, caller, site.span)
                return SHARED if known else ALIVE if self._alive.is_alive(site.receiver, caller, site) else FRESH
            found = self._objects.of(site.receiver, caller, entry)
            itself = isinstance(site.receiver, Param) and self._symbols.is_instance(site.receiver)
            goes_on = found == FRESH and itself and site.started and caller in self._alive.starters
            return ALIVE if goes_on else found
        if (found := self._of_part(entry, site, caller)) != SHARED:
            return found
        match site.receiver:
            case Fresh(type=name) as own:
                made = self._symbols.functions[callee][1].name == "__init__"  # whoever makes an object is alone with it
                if made or not self._is_running(own, caller, site):
                    return FRESH
                known = self._is_active(name) or self._objects.is_handed_over(own, caller, site.span)
                return SHARED if known else FRESH
            case Param(function=caller) as own if self._symbols.is_instance(own):
                return self._of_whole(entry, site, caller)
            case Param(function=caller) as given if self._places.is_handed(given):
                return SHARED  # what is started has it, and others
            case Field() as path:
                base: Value = path
                if not isinstance(root(base), Param | Global | Captured | TypeValue):
                    return MAYBE
                while isinstance(base, Field):
                    owner = self._types.class_of(base.base)
                    if owner is None or not self._places.is_own_field(owner, base.name):
                        return SHARED
                    base = base.base
                if isinstance(base, Param):
                    return self._of_whole(entry, site, caller) if self._symbols.is_instance(base) else MAYBE
                return SHARED
            case None | TypeValue() | Global():
                return SHARED
            case Element() | Member() as path if isinstance(root(path), Param | Global | Captured | TypeValue):
                return SHARED
            case Element(base=Field()) | Member(base=Field()) as path if isinstance(root(path), Result):
                return SHARED  # out of some object's table: whoever has that has this, too
            case Captured():
                return SHARED
            case _:
                return MAYBE

    def _of_whole(self, entry: Entry, site: CallSite, caller: str) -> int:
        """What the caller's own instance is to the context by then."""
        if site.started and self._symbols.functions[caller][1].name == "__init__":
            return SHARED  # others may know it by now
        goes_on = entry.receiver == FRESH and site.started and caller in self._alive.starters
        return ALIVE if goes_on else entry.receiver

    def _of_part(self, entry: Entry, site: CallSite, caller: str) -> int:
        """What lies in a field of the caller's own instance, which nobody else may have yet."""
        if self._places.parts is None or not isinstance(site.receiver, Field | Element | Member) or site.started:
            return SHARED
        if not self._objects.comes_first(caller, entry):
            return SHARED  # what was started may be one of the parts
        return self._places.parts.of(site.receiver, self._of_whole(entry, site, caller))

    def _is_running(self, made: Fresh, caller: str, site: CallSite) -> bool:
        """Whether something may run beside a call on an object made by the caller: what the caller or the object itself
        has started, or a library that has got the object.
        """
        given = self._objects.is_given_away(made, caller, site.span)
        return site.started or given or self._alive.is_alive(made, caller, site)

    def _is_active(self, type_id: str) -> bool:
        """Whether objects of a type have contexts of their own: who made one is not alone with it."""
        if type_id not in self._symbols.types:
            return False
        line = [a.type for a in self._symbols.ancestors(type_id) if isinstance(a, TypeValue)]
        return any(t in self._active for t in line)


def _whole(path: Value) -> Value:
    """The object that has what a path leads to."""
    while isinstance(path, Element | Member):
        path = path.base
    return path.base if isinstance(path, Field) else path
