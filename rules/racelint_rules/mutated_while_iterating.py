"""The rule mutated-while-iterating."""

from collections.abc import Iterator
from dataclasses import replace

from racelint.api import (
    Access,
    Confidence,
    Finding,
    IterationConflict,
    Location,
    Program,
    Race,
    Remedy,
    Severity,
    rule,
)

VERBS = {"insert": "gains entries", "remove": "loses entries", "clear": "is emptied", "append": "grows"}
MOST_STEPS = 5
MOST_QUIET_STEPS = 4  # likewise, for what does not raise for sure
GROWTH = {".append()", ".appendleft()", ".extend()", ".extendleft()"}
OF_ELEMENTS = {".remove()", ".discard()", ".add()"}
MAPPING_STYLES = {"keys", "values", "items"}
HARM = {
    "raises": "the next turn raises RuntimeError (the container changed size during iteration), or entries are missed",
    "skips": "the elements behind the gap move up: the loop skips some of them, or sees some twice",
    "linked list": "what is removed has no next element: the loop ends there, and does not see those behind it",
    "go": "the range keeps its old length: elements that have moved up are skipped, the last ones are seen again",
}
MEND = {
    "python": "iterate over a copy, list(...), or collect what is to change and change it after the loop",
    "linked list": "keep the next element in a variable before the removal: next = e.Next()",
    "go": "gather what stays in a new slice (or slices.DeleteFunc), or leave the loop after the cut",
}


@rule(languages=("python", "go"), since="0.1")
def mutated_while_iterating(program: Program) -> Iterator[Finding]:
    """A container loses or gains entries while it is being iterated, and the iteration goes on.

    ## What it finds

    A dict, set, deque or list that is resized inside a loop over it: by a statement in the loop, through another name
    for the same container, or by a function that the loop calls, however many calls away. Loops are `for` statements,
    comprehensions, generators (the project's own too), and library functions that call back while they iterate
    (`min(d, key=f)`, `map(f, d)`).

    ## Why it is a bug

    A dict, set or deque that changes size raises RuntimeError on the next turn, so the rest of the entries is never
    seen: half the sessions stay open at shutdown. A list does not raise: the elements behind the removed one move up,
    and the loop silently skips one. In Go a `range` takes the slice as it is at the start: once it is cut, indexes are
    off by one, elements are skipped, and the last ones are seen twice. An element that `list.Remove(e)` has taken out
    of a linked list has no next one: `e = e.Next()` ends the loop there.

    ## Example

        class Bot:
            def __init__(self):
                self.extensions = {}

            def close(self):
                for name in self.extensions:
                    self.unload(name)                 # the next turn raises RuntimeError

            def unload(self, name):
                self.extensions[name].close()
                del self.extensions[name]

    Use instead:

        def close(self):
            for name in list(self.extensions):
                self.unload(name)

    In Go:

        func withoutEmpty(names []string) []string {
            for i, name := range names {
                if name == "" {
                    names = append(names[:i], names[i+1:]...)    // the next one is skipped
                }
            }
            return names
        }

    Use instead:

        func withoutEmpty(names []string) []string {
            return slices.DeleteFunc(names, func(name string) bool { return name == "" })
        }

    ## How it decides

    The finding stands at the change if the loop's own function makes it, else at the call in the loop that leads to it;
    the trace leads from there to the change. Container and change must be the same object along access paths (aliases,
    parameters, fields, live views, properties that return the inner container are followed; of what a nested function
    makes that calls itself each run has its own, unless it hands it on or keeps it), and the loop must be able to go on
    after the change: `break`, `return` or `raise` on every way out is fine, as is a flag that is set with the change
    and tested before the next turn, a helper whose result says whether it has made the change, or one that raises
    behind it what nobody catches inside of the loop.

    A loop that calls what it walks is one over callbacks, if callers put them in by one method
    (`subscribe(callback)`) and take them out by another one of the same class, or by a function, or a partial call
    of one, that the first one hands out. That a callback leaves while it is called is a warning, of medium
    confidence where any callback at all may be among them: they are told of events that go by names
    (`self.callbacks[event]`), are given any arguments (`*args`), or have a method called whose name is put
    together. It is reported once for each container. Where the project itself takes callbacks out, something that
    it has put in must lead there, as far as names tell: else it mostly does so when all is over, and that is
    hidden. Callbacks of one purpose, and listeners of which a method is called, are hidden, if nothing in the
    project leaves while it is called: mostly there are few, and they stay. A class of the project leaves, as far as
    names tell, if it puts its instances in by itself (`source.add_client(self)`), and the called method leads by
    methods of its own to `source.remove_client(self)`.

    Methods of libraries that call others of the program's own classes are followed where a table names them
    ([`[[hook]]`](../knowledge.md#hook)): `window.close()` of Qt calls `closeEvent()`. A module that walks its own names
    (`for name in locals()`) adds to them if the loop is the first to use one of its variables.

    In Go only slices that are cut count, in the loop or by a helper that gives back what is left of one (its elements
    move up where they are), and elements of `container/list` that the loop's step starts from: a map may lose and gain
    entries while one goroutine ranges over it, and what is appended to a slice is not seen. It is a warning there, for
    often one element at most is cut out; and so is an iteration that waits while another task may resize the container
    (of a list in Python: take elements out of it). In Python it is a warning, too, where the loop skips elements
    (of a list), and where a called function makes the change and puts something in, or the confidence is medium. All
    else is an error.

    A loop over `sys.modules.items()` or `.values()` that asks a module for an attribute is a warning, too: any import,
    of this thread or of another one, adds to it, and a module may load others when it is asked.

    In a program for Python 2 (part of its files cannot run on Python 3) `keys()`, `values()` and `items()` are lists.

    No resize, hence silent: giving an existing key another value (the loop's own key, one that it was found equal to, a
    key just read or tested with `in`, a constant key with which the mapping is made: `{"sent": 0}`, wherever a field or
    variable gets one, and nothing is ever taken out of it); appending to the list being iterated (a work list);
    removing from a list that is walked with `reversed()`; what is done only where a test has found the container empty
    (`if not self.names: self.reload()`), for in the loop there is an element, be it that a call could ask for more and
    does not (`if self.names and not force: return`, called without `force`). Confidence is high when the container's
    type and every callee are known, medium when they are known by name only or a loop does no more than remove from a
    list what passes a test (it takes two neighbours that pass it), low (hidden by default) where the code is mostly
    right:

    - a container of unknown type that belongs to an object of unknown class (it may iterate over a copy), or that a
      library exports, also if a parameter only ever is such a container, unless the loop deletes its own key from it
      (`for k in d: del d[k]`, medium; of a library's, and in files that import pandas or the like, still low); and an
      attribute that its class computes at each access, or that the loop reads out of an object of a class of
      some library of which no table speaks;
    - a loop over one of several containers, with a change in one of several others, in a variable that was exchanged
      for the iterated one, or in a copy on some ways (in Go the slice that has grown, also in an earlier turn); a
      helper that changes the container for one particular object only, with which it compares its parameter, or for
      objects of a class that it asks for with `isinstance()`, if nothing says that it is given one; a callback that the
      helper calls at once in one case and keeps in the other;
    - a list that is looked through again: in a loop that goes on until the list is empty or a pass has done nothing,
      in an endless loop, by a loop that does the same sweep over it in each turn (Python), in a function that a
      timer runs, or after a call of `select()`; a loop that only looks for
      what is over in a list of its own object, and not for what its caller names; a list whose element gives way to
      another one, or in Go is put at its end at once;
    - a list whose removed element, or the object that it is the key of, was found by `==`, or itself by `is` (there
      is only one, but not of what `is` an owner's; in Go by the loop's own function, itself, by several of its
      fields or by its name or id, or by another's by which its package looks one up, unless the last element is put in
      its place, and compared with what is the same in all turns, unless the loop sets the end of the slice to nil, to
      which the range goes on), or is of a class that is asked for and noted in a variable; so is what was found by its
      name or id and is taken out by its position, of whatever type the container is; slice assignments;
    - a dict given a value under a key that was not tested with `in`, and is neither a constant nor computed from the
      loop's own key (it may be there already), or by a method found by its name alone; a helper that adds to a set,
      stores under what it asks of the loop's element, or of what lies in another table under that (`job.number()`), or
      makes what it has not found by what some object has for a name (`self.package(route.package)`);
    - an iteration that waits inside what opens or closes its object, or where both tasks have entered that by
      `async with`, which notes so in it, or beside a change in the same call, or for coroutines of the project of
      which one never suspends, or which end in a callback, or in coroutines of callers from outside of a container
      that is only ever filled (a memo);
    - a method that only finalisers call; one that nobody speaks of, where the repository has tests or examples that
      use the program, a function of a module that others import whose name stands nowhere else, and what a class
      has, below which there is no other, whose name stands nowhere else (for what is private by its name tests do not
      count); a change more than four calls away (more than three if it skips, or may find the key there).

    ## Known limits

    Resizes from another thread during the iteration are not seen here (`unlocked-shared-write` looks for them). A
    change after which the helper raises counts as if the loop went on, and so does one in a branch that another bug
    keeps from ever being taken. Objects that refer back to the container by another path (`child.parent.children`) are
    different paths to the analysis. Classes of libraries are known as far as the knowledge tables go; containers of an
    unknown class are not reported on. Elements of lxml, whose iterators have the next child at hand, are told from
    those of `xml.etree` by what the file imports, or, if that is neither, by what those files import that import it.
    """
    places: dict[tuple[str, int], list[IterationConflict]] = {}
    for conflict in program.iteration_conflicts():
        if _is_bug(conflict):
            places.setdefault((conflict.location.path, conflict.location.line), []).append(conflict)
    told: set[tuple[Location, Location, Confidence]] = set()
    for conflicts in places.values():  # one finding a line: the surest, told by the shortest way
        surest = max(conflicts, key=lambda conflict: (_confidence(conflict), -len(conflict.steps)))
        bug = (surest.loop, surest.steps[-1].location, _confidence(surest))
        if bug not in told:  # one finding for a loop and a change, however many calls lead from one to the other
            told.add(bug)
            yield _finding(surest)
    for race in program.crossed_iterations():
        if (race.location.path, race.location.line) not in places:
            yield _across_tasks(race)


def _is_bug(conflict: IterationConflict) -> bool:
    """Whether the change breaks the iteration, given how the container behaves and how it is walked."""
    if conflict.change == "reorder" or conflict.kind == "other" or conflict.live in ("snapshot", "defined"):
        return False
    if conflict.live == "skips" and conflict.operation.startswith("[...]"):
        return False  # an item of a list gets another value
    if conflict.kind == "unknown":
        return _fits_unknown(conflict)
    if conflict.live == "skips":
        return conflict.change != "append" and conflict.style != "reversed"
    return True


def _fits_unknown(conflict: IterationConflict) -> bool:
    """Whether walk and change together say what an untyped container is."""
    mapping = conflict.style in MAPPING_STYLES
    match conflict.operation:
        case "[...] =" | ".update()" | ".setdefault()" | ".popitem()":
            return mapping
        case ".remove()" | ".discard()" | ".add()" | ".popleft()" | ".insert()" | "slice assignment":
            return not mapping and conflict.style != "reversed"
        case _:
            return conflict.change in ("remove", "clear") and conflict.style != "reversed"


def _confidence(conflict: IterationConflict) -> Confidence:
    """The weakest link: how the container and the callees were found, and whether the change is one of size."""
    if conflict.language == "go":  # positions and lengths are wrong from the first cut on, however few fit
        if conflict.cleared:
            return Confidence.HIGH if conflict.certain else Confidence.MEDIUM
        if conflict.singled:
            return Confidence.LOW  # mostly there is no other one like it: only a break is missing
        sure = not (conflict.doubtful or conflict.repeated) and len(conflict.steps) <= MOST_QUIET_STEPS
        return Confidence.LOW if not sure else Confidence.HIGH if conflict.certain else Confidence.MEDIUM
    if conflict.leaves:
        return Confidence.LOW if conflict.doubtful or conflict.computed or conflict.repeated else Confidence.MEDIUM
    if conflict.operation.startswith("[...]") and conflict.change == "insert" and not _is_new_key(conflict):
        return Confidence.LOW  # the key may well be there already: tables are keyed by attributes of their own values
    if conflict.operation == ".add()" and len(conflict.steps) > 1:
        return Confidence.LOW  # a helper that notes something down in a set mostly notes what is there
    if conflict.computed or conflict.doubtful:
        return Confidence.LOW  # what is iterated and what is changed are mostly two objects
    if conflict.final:
        return Confidence.LOW  # the error is ignored, and what is registered in a container is mostly never finalised
    if len(conflict.steps) > (MOST_STEPS if _raises(conflict) else MOST_QUIET_STEPS):
        return Confidence.LOW  # on so long a way some condition mostly stands against it
    if conflict.kind == "unknown" and conflict.exported:
        return Confidence.LOW  # what a library exports may walk something else than it loses
    if conflict.kind == "unknown" and conflict.foreign and not _is_emptied_by_key(conflict):
        return Confidence.LOW  # many libraries' containers iterate over a copy
    if _skips(conflict) and (conflict.repeated or conflict.operation == "slice assignment"):
        return Confidence.LOW  # the next pass finds what this one skips; the length may well stay
    if _skips(conflict) and conflict.change == "remove" and conflict.singled:
        return Confidence.LOW  # mostly only one element is equal: what is skipped is none to remove
    if _skips(conflict) and conflict.sweep:
        return Confidence.MEDIUM  # it takes two neighbours that are both to be removed
    return Confidence.HIGH if conflict.certain and conflict.kind != "unknown" else Confidence.MEDIUM


def _severity(conflict: IterationConflict) -> Severity:
    """How sure it is that the loop breaks: in Python mostly, but less so behind a call, and not of a list.

    Of 16 findings behind a call that put something in, skip elements or have medium confidence, in repositories that
    the rule had not been mended on, 9 were right; of the others behind a call 6 of 11, where one mistake made all five.
    Of 31 that skip an element in the loop's own function 15 were right: mostly the one that is skipped stays rightly,
    or its turn comes again.
    """
    if conflict.language == "go" or _skips(conflict):
        return Severity.WARNING
    surely = conflict.change in ("remove", "clear") and _confidence(conflict) > Confidence.MEDIUM
    near = len(conflict.steps) == 1 and conflict.certain
    return Severity.ERROR if surely or near else Severity.WARNING


def _is_new_key(conflict: IterationConflict) -> bool:
    """Whether an insertion surely is one; reading a default mapping mostly follows a look-up of the same key."""
    through_calls = len(conflict.steps) > 1
    if through_calls and not conflict.certain:
        return False
    if conflict.operation == "[...]" and through_calls:
        return conflict.key in ("absent", "constant")
    return conflict.key in ("absent", "constant", "computed")


def _skips(conflict: IterationConflict) -> bool:
    """Whether a change makes the loop skip elements.

    An unknown container with `.remove()` is mostly a list, as is one out of which what has a name is taken by position.
    """
    is_list = conflict.operation == ".remove()" or conflict.key == "position"
    return conflict.live == "skips" or (conflict.kind == "unknown" and is_list)


def _across_tasks(race: Race) -> Finding:
    return Finding(
        rule="mutated-while-iterating",
        severity=Severity.WARNING,
        confidence=Confidence(race.confidence),
        location=race.location,
        message=f"{race.symbol} is iterated while this task waits, and another task may resize it meanwhile",
        symbol=race.symbol,
        function=race.function,
        accesses=(replace(race.first, role="iteration"), replace(race.second, role="change")),
        because=f"other tasks run at each wait inside the loop, and {race.second.function} resizes it",
        harm=HARM["skips" if race.shape == "shifted-iteration" else "raises"],
        mend="iterate over a copy, list(...), or hold one asyncio.Lock on both sides",
        remedy=Remedy("snapshot", (race.location,)) if race.location == race.first.location else None,
    )


def _harm(conflict: IterationConflict) -> str:
    if conflict.kind in HARM:
        return conflict.kind
    return "go" if conflict.language == "go" else "skips" if conflict.live == "skips" else "raises"


def _is_emptied_by_key(conflict: IterationConflict) -> bool:
    """Whether it is a mapping by its use: `for k in d: del d[k]`. What `keys()` of a library gives may be a list."""
    by_key = conflict.operation == "del" and conflict.key == "element"
    return by_key and conflict.style in ("direct", "items") and not conflict.framed


def _raises(conflict: IterationConflict) -> bool:
    """Whether a change raises for sure: a new entry may be there already, a list only skips."""
    return conflict.change in ("remove", "clear") and not _skips(conflict)


def _of_callbacks(conflict: IterationConflict) -> Finding:
    """A loop over callbacks, each of which may take itself out while it is called."""
    joins, leaves = conflict.steps[0], conflict.steps[-1]
    loop = Access("iteration", "iterate", conflict.loop, conflict.function)
    change = Access("change", "mutate", leaves.location, leaves.function, trace=conflict.steps)
    return Finding(
        rule="mutated-while-iterating",
        severity=Severity.WARNING,
        confidence=_confidence(conflict),
        location=conflict.location,
        message=f"{conflict.text} loses entries while the loop at line {conflict.loop.line} iterates over it, if one "
        f"that is called here leaves by {leaves.function}",
        symbol=conflict.symbol,
        function=conflict.function,
        accesses=(loop, change),
        because=f"the loop calls, live, whatever {joins.function} was given; any of it may call {leaves.function}",
        harm=HARM["skips" if _skips(conflict) else "raises"],
        mend="call the elements of a copy: list(...)",
        remedy=Remedy("snapshot", (conflict.iterable or conflict.loop,), safe=False),
    )


def _finding(conflict: IterationConflict) -> Finding:
    if conflict.leaves:
        return _of_callbacks(conflict)
    verb = VERBS[conflict.change]
    through = "" if len(conflict.steps) == 1 else f", through {conflict.steps[-1].function}"
    loop = Access("iteration", "iterate", conflict.loop, conflict.function)
    change = Access("change", "mutate", conflict.steps[-1].location, conflict.steps[-1].function, trace=conflict.steps)
    given = conflict.handed
    handed = (Access("hand-out", "return", given.location, given.function),) if given is not None else ()
    return Finding(
        rule="mutated-while-iterating",
        severity=_severity(conflict),
        confidence=_confidence(conflict),
        location=conflict.location,
        message=f"{conflict.text} {verb} while the loop at line {conflict.loop.line} iterates over it{through}",
        symbol=conflict.symbol,
        function=conflict.function,
        accesses=(loop, *handed, change),
        because=f"the iteration reads {conflict.text} live, and goes on after {conflict.steps[-1].note}",
        harm=HARM[_harm(conflict)],
        mend=MEND[conflict.kind if conflict.kind in MEND else conflict.language],
        remedy=_remedy(conflict),
    )


def _remedy(conflict: IterationConflict) -> Remedy | None:
    """A copy mends what goes by elements and keys; positions in a list are those of the list, not of its copy."""
    if conflict.language != "python" or conflict.style == "call":
        return None
    if _skips(conflict) and conflict.operation != ".remove()":
        return None
    if conflict.operation in GROWTH:
        return None  # a work list: what is added is to be visited, too
    safe = (
        conflict.style != "generator"
        and conflict.operation != ".add()"
        and (conflict.kind != "unknown" or conflict.style in MAPPING_STYLES or conflict.operation in OF_ELEMENTS)
    )
    return Remedy("snapshot", (conflict.iterable or conflict.loop,), safe=safe)
