"""Callers: threads from outside, which use the public interface, beside what the program starts itself."""

from __future__ import annotations

from racelint.analysis.admitted import Admitted
from racelint.analysis.bounded import Bounded
from racelint.analysis.branching import loops_around
from racelint.analysis.collisions import Collisions
from racelint.analysis.contexts import ELSEWHERE, Context, Contexts, Entry
from racelint.analysis.documented import Documented
from racelint.analysis.effects import READS, Access, Effects
from racelint.analysis.identity import Identity
from racelint.analysis.lifecycle import (
    configures_service,
    in_lower_case,
    is_closing,
    is_registration,
    readies,
    sets_up_program,
)
from racelint.analysis.objects import HANDLER, SHARED
from racelint.analysis.paths import root
from racelint.analysis.places import ANY_LOCK, Places, of_threads
from racelint.analysis.spots import Silence, Spot
from racelint.analysis.symbols import MODULE, SETTER, Symbols
from racelint.analysis.values import Fresh, Param
from racelint.analysis.ways import NEAR, Ways


class Callers:
    """Says what callers may do at the same time, and what they hardly do."""

    def __init__(
        self, symbols: Symbols, effects: dict[str, Effects], contexts: Contexts, ways: Ways, identity: Identity,
        collisions: Collisions, places: Places,
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._effects = effects
        self._contexts = contexts
        self._ways = ways
        self._identity = identity
        self._collisions = collisions
        self._documented = Documented(symbols, contexts)
        self._admitted = Admitted(symbols, effects, places, contexts)
        self.bounded = Bounded(symbols, effects, contexts, ways, places.knowledge, self._is_shared)
        self._begun = {type_id for each in effects.values() for type_id in each.begun}
        self._of_loop: dict[str, bool] = {}
        self._makers: dict[str, set[str]] = {}  # by a class of threads, the classes that make them

    def beside(self, write: Spot, other: Spot, context: Context) -> int:
        """A caller's thread beside a started one: where the start stands says how likely they meet on one object."""
        made = self._contexts.made_in.get(write.located.type)
        roots = self._contexts.roots
        caller = write if roots[write.entry.context].is_external else other
        if context.starter is None and not self._is_begun(context) and self._leads_up(caller):
            return 1
        started_in = context.starter or context.function
        owner = self._symbols.owner_of(started_in)
        if made and all(not roots[index].is_external for index in made) and not self._runs_for(owner, context, caller):
            return 1  # the objects are made by what runs there
        place = write.located.place
        if place.kind in ("global", "captured") or self._identity.is_family(owner, write.located.type):
            return 3 if context.starter else 2
        if context.starter is not None and (self._constructs(context.starter, write) or self._has(owner, write, other)):
            return 3
        if context.starter is not None and context.starter in self._ways.functions(caller):
            return 3  # it goes on with what it has handed over
        starting = {owner} if context.starter is not None else self._makers_of(owner)
        if any(self._comes_by(caller, each) for each in starting):
            return 3  # both come to what the class keeps that starts it
        if self._is_given(write, other, context, owner):
            return 1  # who has both may keep to an order
        shape = self._collisions.shape(write, other)
        return 2 if shape in ("resize-iterate", "check-act", "update-update", "replace-change") else 1

    def _runs_for(self, owner: str, context: Context, caller: Spot) -> bool:
        """Whether a method of the object has started what runs, and its user comes by another one, whoever that is."""
        by_steps = self._symbols.is_ordered_by_steps(caller.function)
        own = context.starter is not None and caller.located.own
        return by_steps and own and self._identity.is_family(owner, caller.located.type)

    def _comes_by(self, caller: Spot, owner: str) -> bool:
        """Whether a caller comes in by a method of a class, and reaches the object by a field of that class."""
        holder = caller.entry.origin.lstrip("=").rpartition(".")[0]
        entered = self._symbols.owner_of(self._contexts.root(caller.function, caller.entry))
        return bool(owner and holder) and all(self._identity.is_family(each, owner) for each in (holder, entered))

    def _is_begun(self, context: Context) -> bool:
        """Whether the program itself begins a thread of its own class."""
        return self._symbols.owner_of(context.function) in self._begun

    def _leads_up(self, caller: Spot) -> bool:
        """Whether a program's main code comes by once, mostly before it lets a library run what it has set up."""
        if not self._contexts.root(caller.function, caller.entry).endswith(f":{MODULE}"):
            return False
        steps = self._contexts.steps(caller.function, caller.entry, caller.access.span)
        bodies = [(self._symbols.functions[function][1].body, span) for function, span in steps]
        return all(loop.iterable is not None for body, span in bodies for loop in loops_around(body, span))

    def _constructs(self, starter: str, spot: Spot) -> bool:
        """Whether a plain function has made the object on which it starts something: a constructor, in Go."""
        if not self._symbols.is_ordered_by_steps(spot.function):
            return False
        maker = self._effects.get(self._symbols.outermost(starter))
        return maker is not None and any(made == spot.located.type for _, made in maker.made)

    def _has(self, owner: str, first: Spot, second: Spot) -> bool:
        """Whether both sides come to a part that a type has by value, as what it embeds, through an object of it."""
        if not self._symbols.is_ordered_by_steps(first.function):
            return False
        return all(any(self._identity.is_family(owner, o) for o in self._identity.owners(s)) for s in (first, second))

    def _is_given(self, write: Spot, other: Spot, context: Context, owner: str) -> bool:
        """Whether what a thread works on was made by somebody else than the class that starts it, `owner`."""
        spots, runs = (write, other), self._symbols.owner_of(context.function)
        if context.starter is None:  # a class of threads: what makes them starts them
            return context.kind == "thread" and not any(self._is_with_maker(spot, owner) for spot in spots)
        if context.kind not in ("thread", "pool") or not owner or self._identity.is_family(runs, write.located.type):
            return False
        if all(spot.entry.origin in ("", ELSEWHERE) for spot in spots):
            return False
        return not any(self._identity.is_family(_maker(spot), each) for spot in spots for each in (owner, runs))

    def _is_with_maker(self, spot: Spot, thread: str) -> bool:
        """Whether threads of a class are made by the class of an access's object, or by the class that has made it."""
        types = (spot.located.type, _maker(spot))
        return any(self._identity.is_family(maker, each) for maker in self._makers_of(thread) for each in types)

    def _makers_of(self, thread: str) -> set[str]:
        """The classes whose methods make threads of a class; "" stands for plain functions."""
        if thread not in self._makers:
            making = [f for f, effects in self._effects.items() if any(made == thread for _, made in effects.made)]
            self._makers[thread] = {self._symbols.owner_of(function) for function in making}
        return self._makers[thread]

    def is_of_loop(self, spot: Spot) -> bool:
        """Whether a caller comes in by a method of a type that has coroutines: he mostly is on the loop himself."""
        owner = self._symbols.owner_of(self._contexts.root(spot.function, spot.entry))
        if owner not in self._of_loop:
            methods = self._symbols.methods_like(owner, ("*",)) if owner in self._symbols.types else []
            self._of_loop[owner] = any(self._symbols.functions[method][1].is_async for method in methods)
        return self._of_loop[owner]

    def closes(self, context: Context) -> bool:
        """Whether a context is started only to close something."""
        names = [self._symbols.functions[f][1].name for f in (context.starter, context.function) if f]
        return context.starter is not None and any(is_closing(name) for name in names)

    def is_waited_for(self, context: Context, caller: Context) -> bool:
        """Whether it is the caller who has started a context, on whatever way, and waits for it at once."""
        if not caller.is_external or not context.awaited or context.is_loop:
            return False
        states = self._contexts.entries.get(context.starter or "", ())
        return all(self._contexts.roots[entry.context].is_external for entry in states)

    def says_shared(self, spot: Spot) -> str:
        """The type on whose own instance an access is, if that type says that many callers may use it at once."""
        if not spot.located.own:
            return ""
        return self._is_shared(spot.function, spot.entry)

    def _is_shared(self, function_id: str, entry: Entry) -> str:
        said = self._documented.shared_by(function_id, entry)
        return said or self._admitted.shared_by(function_id, entry)

    def evidence(self, spot: Spot) -> str:
        """What says that several callers may come at once: the documentation, or the code itself."""
        return "documented" if self._documented.shared_by(spot.function, spot.entry) else "admitted"

    def by_contract(self, write: Spot, spots: list[Spot]) -> list[Spot]:
        """The accesses that other callers make at the same time, on an object of a type that says they may."""
        owner = self.says_shared(write)
        return [spot for spot in spots if self._identity.is_family(owner, self.says_shared(spot))] if owner else []

    def shared_by_contract(self, owner: str, write: Spot, other: Spot) -> int | Silence:
        """Two callers at once, of a type that says they may, on what is the object's own."""
        if not self._identity.is_family(owner, self.says_shared(other)):
            return Silence.CALLERS
        if not self._documented.shared_by(write.function, write.entry):
            if self._take_turns(write, other):
                return Silence.CALLERS
            if not self._is_admitted(write, other):
                return 1
        sure = SHARED == write.receiver == other.receiver and write.located.certain and other.located.certain
        return 2 if sure and not self._ways.is_far(write, NEAR) and not self._ways.is_far(other, NEAR) else 1

    def _is_admitted(self, write: Spot, other: Spot) -> bool:
        """Whether callers hardly see to it themselves, as they do to what is opened and closed."""
        if self._collisions.shape(write, other) == "check-act":
            return all(self._admitted.keeps_callers_apart(spot.function, spot.entry) for spot in (write, other))
        return self._collisions.shape(write, other) in ("update-update", "resize-iterate", "replace-change")

    def is_setting_up(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller still makes the whole of which an object is a part, and the other side is not its doing.

        `init_logging()`, `register_codec()` and the like make it for the whole program, `init_host()` and `setup()`
        for what other methods of the same class start, and `Configure()` is what the client of a service calls first.
        """
        context, root = self._contexts.roots[spot.entry.context], self._contexts.root(spot.function, spot.entry)
        function = self._symbols.functions[root][1]
        if context.kind == HANDLER:
            return bool(function.owner) and configures_service(function.name)
        if not context.is_external:
            return False
        starter = self._contexts.roots[other.entry.context].starter
        if not function.owner:
            steps = self._symbols.is_ordered_by_steps(root)
            prepares = sets_up_program(function.name if steps else in_lower_case(function.name))
        else:
            theirs = self._symbols.owner_of(starter) if starter else ""
            prepares = readies(function.name) and self._identity.is_family(self._symbols.owner_of(root), theirs)
        if function.name != "__init__" and not prepares:
            return False
        return other.entry.context not in self._contexts.started_under.get(root, ())

    def goes_behind(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller would use an object directly that the other side uses under a lock of somebody else's."""
        if not self._contexts.roots[spot.entry.context].is_external:
            return False
        if not spot.located.own and not self._symbols.is_ordered_by_steps(spot.function):
            return False
        entered, type_id = self._contexts.root(spot.function, spot.entry), spot.located.type
        if not self._identity.is_family(self._symbols.owner_of(entered), type_id):
            return False
        owners = [lock.rpartition(".")[0] for lock in of_threads(other.entry.locks) if not lock.startswith(ANY_LOCK)]
        if any(owner in self._symbols.types and not self._identity.is_family(owner, type_id) for owner in owners):
            return True
        return not of_threads(spot.locks) and any(owner not in self._symbols.types for owner in owners)

    def is_driven_instead(self, spot: Spot, other: Spot) -> bool:
        """Whether a caller takes the turns of a loop, for input or for results, which else the other context takes."""
        caller, context = self._contexts.roots[spot.entry.context], self._contexts.roots[other.entry.context]
        if not caller.is_external or context.is_external:
            return False
        if self._take_turns(spot, other):
            return True
        root = self._contexts.root(spot.function, spot.entry)
        turns = [turn for turn, leading in self._contexts.turning.items() if root in leading]
        return any(e.context == other.entry.context for turn in turns for e in self._contexts.entries.get(turn, ()))

    def _take_turns(self, first: Spot, second: Spot) -> bool:
        """Whether two callers would both take the turns of a loop that waits for input: one of them drives it."""
        both = self._ways.functions(first) & self._ways.functions(second)
        return not (self._contexts.consuming.isdisjoint(both) and both.isdisjoint(self._contexts.turning))

    def configures(self, caller: Spot) -> bool:
        """Whether a caller only stores what he gives, or registers it: `Add...` of a listener, a handler."""
        if self.is_setter(caller.function):
            return True
        function = self._symbols.functions[caller.function][1]
        return function.is_public and is_registration(function.name)

    def is_setter(self, function_id: str) -> bool:
        """Whether a function only stores what it is given, or a copy."""
        if self._symbols.functions[function_id][1].qualname.endswith(SETTER):
            return True
        effects = self._effects[function_id]
        calls = any(isinstance(callee, str) for _, callee in effects.calls) or effects.starts_any
        return not calls and all(a.kind in ("store", "read", "test") or _copies(a) for a in effects.all_accesses())


def _copies(access: Access) -> bool:
    """Whether an access reads what a function was given, or fills what it has made."""
    start = root(access.path)
    given = isinstance(start, Param) and start.index > 0 and access.kind in READS
    return given or isinstance(start, Fresh)


def _maker(spot: Spot) -> str:
    """The class that has made the object of an access, and keeps it; "" if it was given to who keeps it."""
    holder = spot.entry.origin
    return holder.lstrip("=").rpartition(".")[0] if holder.startswith("=") else ""
