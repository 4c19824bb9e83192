"""The rule inconsistent-lock."""

from collections.abc import Iterator

from racelint.api import Finding, Program, Race, Severity, Violation, rule
from racelint_rules._annotated import broken
from racelint_rules._shared import COPIES, HARM, OF_LANGUAGE, SEVERITIES, finding, harm, read_side, severity, verb

ATOMIC = "sync/atomic"  # the name of what keeps atomic steps apart


@rule(languages=("python", "go"), since="0.2")
def inconsistent_lock(program: Program) -> Iterator[Finding]:
    """A place that its author guards with a lock is accessed without it, in a way that can go wrong.

    ## What it finds

    Where a lock is held at most accesses of a place (at two or more, one of them a write, and at every other write or
    at two thirds of all), the author has said that the place is shared. The rule reports an access without that lock
    that collides with what is done under it: an unlocked iteration of a dict that is resized under the lock, an
    unlocked insertion into a container that is swapped under the lock, an unlocked check and act. No thread needs to
    be seen.

    ## Why it is a bug

    A lock excludes only those who take it.

    ## Example

        class Pools:
            def __init__(self):
                self._lock = threading.Lock()
                self._hosts = {}

            def add(self, host):
                with self._lock:
                    self._hosts[host] = Pool(host)

            def remove(self, host):
                with self._lock:
                    del self._hosts[host]

            def shutdown(self):
                for pool in self._hosts.values():     # a host added meanwhile raises RuntimeError
                    pool.shutdown()

    Use instead:

        def shutdown(self):
            with self._lock:
                pools = list(self._hosts.values())
            for pool in pools:
                pool.shutdown()

    In Go:

        type Hosts struct {
            mu    sync.Mutex
            hosts map[string]int
        }

        func (h *Hosts) Add(name string) {
            h.mu.Lock()
            defer h.mu.Unlock()
            h.hosts[name]++
        }

        func (h *Hosts) Remove(name string) {
            h.mu.Lock()
            defer h.mu.Unlock()
            delete(h.hosts, name)
        }

        func (h *Hosts) Reset(name string) {
            h.mu.Lock()
            defer h.mu.Unlock()
            h.hosts[name] = 0
        }

        func (h *Hosts) Print() {
            for name, count := range h.hosts {        // beside a write the runtime may end the program
                println(name, count)
            }
        }

    Use instead:

        func (h *Hosts) Print() {
            h.mu.Lock()
            defer h.mu.Unlock()
            for name, count := range h.hosts {
                println(name, count)
            }
        }

    ## How it decides

    Locks are followed through `with`, acquire and release, helpers, decorators, base classes, conditions over a lock
    and callers that hold them. Accesses by constructors, of objects that nobody else knows yet, before the first start
    and after the join do not count, nor what requests do to objects that each of them takes out of a pool.

    A lock that is given back in the statement after the one that takes it (`mu.Lock()`, `mu.Unlock()`: `defer` was
    meant) is told at what follows, if others touch that under the lock.

    ### Python

    Silent: plain reads, single item operations and snapshots (`list(d)`), functions whose name or docstring says that
    the caller holds the lock (`_locked`), locks of unknown origin.

    Which pairs count is the same as in unlocked-shared-write, but all are warnings: that two run at once is inferred
    from the lock, not proven (free-threaded: errors). Confidence is medium, and low (hidden) for a plain store
    beside another one, over long chains of calls, for look-ups, where a callback of unknown context is a side, where
    the object is only being put into service (`start`), where a test and its act are two sections of the lock, and
    where a caller would go behind the object that holds this one and its lock. Low is also what callers from outside
    do, on either side, but for iterations that fail, containers that are handed out live, updates beside updates, what
    is put into a container that others replace under a lock of its own object (it is lost), and what is found to be
    there and read again without the lock by a function that then takes it, while others empty it under the lock: single
    steps are whole, and whether callers ever come between two of them is theirs to know.

    ### Go

    Any read or write without the guard counts, whatever it does: a plain read, too. Not so a read by who has found the
    field set under the guard, where it is set once, for good; nor where two tests of a field that nobody changes lead
    to the two sides, and contradict each other: an option (`func(s *Server)`, returned by `WithLimit`) that only
    whoever makes the object calls changes nothing. It is a warning, for that the two ever run at once is the
    author's word only. The read side of an RWMutex is enough for reads, and for them only. A
    lock that a single function takes is no guard, unless that function alone uses a map, looks into it, and only then
    takes the lock to put something in: it keeps itself out, and each look-up races with its other calls. Low (hidden)
    is what less than three quarters of the accesses have the lock for, or nine in ten where the ways to the two are
    longer than two calls together and nothing is taken away; not so the only access without the lock, unless it is of a
    word (a flag, a number, a reference). So is what callers from outside do, on either side, but for maps that are
    iterated, containers that are handed out live, writes under the read side, and plain reads of what is stored: who
    calls mostly sees to it that the two never meet, or calls one of them before there is any other. So is a side by
    which callers come in by a method of a program's package that nothing in the repository mentions, be it a test.

    One atomic write says as much as a lock (`atomic.AddInt64(&s.n, 1)`): whoever reads or stores the field plainly
    elsewhere races with it, whosever object it is, and whoever calls. Constructors, and what makes an object or puts it
    into service, do not count.

    Low is also a lock of another type than the field's, unless the access without it holds a lock of the field's own,
    or what is there is taken away: mostly that lock keeps the table in which the object lies, and who goes without it
    has taken the object out. What lies in an object that has the lock (the elements of its slice) is guarded by that,
    if the way there leads through the object.

    Silent: functions named `Unsafe...`, locks that are another object's, what comes before a goroutine is started, what
    the only writer reads in the goroutine (or the function) that alone writes, maps and slices that are only ever
    replaced whole when they are handed out.

    ### Comments

    Where a comment at a declaration says in plain words what a lock keeps (`// protects routes`, `# guards the fields
    below`, `# guarded by self._lock`), callers from outside are taken to come at once, as the author says, but for who
    starts the object, and for who takes out or looks up an entry that he has found. Everything else is as without it.

    ### Annotations

    An annotation settles it (`guarded_by: self._lock`, `requires_lock: self._lock`, see docs/annotations.md): every
    access of the place without the lock is reported with high confidence, whatever the inference believes, and every
    call of the function. Constructors, and objects that nobody else knows yet, need no lock. Writes and iterations are
    errors, in Go all accesses; reads are warnings in Python. A call of a function that requires a lock is an error, and
    so is starting one elsewhere.

    ## Known limits

    A lock that is left out at more than three writes is not taken for a guard. Locks kept in containers (one a key) are
    no guards.
    """
    for violation in program.violations():
        yield _declared(violation)
    for race in program.guard_breaches():
        if race.shape == "hand-out":
            yield _handed_out(race)
        elif race.shape == "hollow":
            yield _hollow(race)
        elif race.shape in SEVERITIES:
            yield finding(
                race,
                "inconsistent-lock",
                _severity(race, program),
                _message(race),
                _because(race),
                harm(race),
                _mend(race),
            )


def _severity(race: Race, program: Program) -> Severity:
    """That two come at once is inferred here, not proven; without the GIL they soon do."""
    return severity(race, program) if program.is_free_threaded and race.language == "python" else Severity.WARNING


def _because(race: Race) -> str:
    if race.guard == ATOMIC:
        return f"{race.symbol} is {verb(race.second)} by {ATOMIC} there, which this access does not take part in"
    because = f"{race.symbol} is {verb(race.second)} under {race.guard}, which this access does not wait for"
    if race.said is None:
        return because
    where = f"{race.said.path.rpartition('/')[2]}:{race.said.line}"
    return f"{because}; the comment at {where} says that it guards it"


def _mend(race: Race) -> str:
    if race.guard == ATOMIC:
        return f"use {ATOMIC} here too, or give the field one of its types"
    return f"take the write side of {lock} here" if (lock := read_side(race)) else f"hold {race.guard} here too"


def _message(race: Race) -> str:
    if race.guard == ATOMIC:
        steps = f"{race.held} of its {race.total} accesses"
        return f"{race.symbol} is {verb(race.first)} plainly, but by {ATOMIC} at {steps}"
    if lock := read_side(race):
        return f"{race.symbol} is {verb(race.first)} under the read side of {lock} only, which others hold, too"
    return f"{race.symbol} is {verb(race.first)} without {race.guard}, held at {race.held} of its {race.total} accesses"


def _declared(violation: Violation) -> Finding:
    """A line that breaks what an annotation says."""
    symbol, lock = violation.symbol, violation.name
    held = f"hold {lock} here, or say that callers do (requires_lock)"
    match violation.kind:
        case "call":
            return _broken(violation, f"{symbol} is called without {lock}, which its callers must hold", held)
        case "start":
            message = f"{symbol}, whose callers must hold {lock}, is started where nobody holds it"
            return _broken(violation, message, f"take {lock} in what is started")
        case "hand-out":
            message = f"{symbol} is returned live from under {lock}: its users do not hold the lock"
            return _broken(violation, message, f"return a copy: {COPIES[violation.language]}")
        case _ if violation.read_side:
            message = f"{symbol} is {verb(violation.access)} under the read side of {lock} only, which others hold, too"
            return _broken(violation, message, f"take the write side of {lock}")
        case _:
            return _broken(violation, f"{symbol} is {verb(violation.access)} without {lock}", held)


def _broken(violation: Violation, message: str, mend: str) -> Finding:
    reads = violation.kind == "access" and not (violation.writes or violation.iterates)
    mild = violation.kind == "hand-out" or (reads and violation.language == "python")
    return broken(
        violation, "inconsistent-lock", Severity.WARNING if mild else Severity.ERROR, message, _harm(violation), mend
    )


def _harm(violation: Violation) -> str:
    """What goes wrong without a lock that is declared."""
    lock = violation.name
    if violation.kind == "hand-out":
        return OF_LANGUAGE.get((violation.language, "hand-out"), HARM["hand-out"])
    if violation.kind != "access":
        return f"what it does under the protection of {lock} races with those who hold it"
    if violation.language == "go":
        return f"it races with whoever holds {lock}: what is seen, or what stays, is not defined"
    if violation.iterates:
        return f"whoever holds {lock} may change it meanwhile: RuntimeError, or missed entries"
    if violation.writes:
        return f"whoever holds {lock} may have read what this changes, and goes on with it, or overwrites the change"
    return f"whoever holds {lock} may be half done: what is seen may never have been meant to be seen"


def _hollow(race: Race) -> Finding:
    return finding(
        race,
        "inconsistent-lock",
        Severity.WARNING,
        f"{race.symbol} is {verb(race.first)} behind {race.guard}, which is given back as soon as it is taken",
        f"{race.second.function} holds {race.guard} where {race.symbol} is {verb(race.second)}",
        "nothing is done under the lock here: what follows it runs beside those who hold it",
        "defer the unlock (defer ...Unlock()), or give the lock back behind what it is for",
    )


def _handed_out(race: Race) -> Finding:
    return finding(
        race,
        "inconsistent-lock",
        SEVERITIES[race.shape],
        f"{race.symbol} is returned live from under {race.guard}: its users do not hold the lock",
        f"{race.second.function} changes it in place under {race.guard}",
        harm(race),
        f"return a copy: {COPIES[race.language]}",
    )
