"""What the rules about shared state have in common: words for accesses and contexts."""

from dataclasses import replace

from racelint.api import Access, Confidence, Finding, Program, Race, Remedy, Severity, Takeable

WORDS = {
    "thread": "a thread", "pool": "a pool worker", "task": "a task", "loop": "a callback on the event loop",
    "remote": "a task on the loop's thread", "greenlet": "a greenlet", "handler": "a request handler",
    "decorated": "a call of a decorated function",
    "goroutine": "a goroutine", "listener": "an event handler",
    "external": "a caller's thread", "async external": "a caller's task", "unknown": "a callback",
}  # fmt: skip
VERBS = {
    "store": "stored", "update": "updated", "update item": "updated", "insert": "given entries",
    "remove": "stripped of entries", "discard": "stripped of entries", "clear": "emptied", "append": "appended to",
    "store item": "given items", "delete": "deleted", "reorder": "reordered", "read": "read", "return": "handed out",
    "test": "tested", "iterate": "iterated", "peek": "looked at", "measure": "measured",
    "wait": "waited for", "change": "changed", "send": "sent",
}  # fmt: skip
SEVERITIES = {
    "resize-iterate": Severity.ERROR, "update-update": Severity.WARNING, "update-store": Severity.WARNING,
    "replace-change": Severity.WARNING, "check-act": Severity.WARNING, "check-use": Severity.WARNING,
    "lost-wakeup": Severity.ERROR,
    "shift-iterate": Severity.WARNING, "hand-out": Severity.WARNING, "count-count": Severity.WARNING,
    "step-step": Severity.NOTE,
    "store-test": Severity.WARNING, "store-store": Severity.WARNING, "update-reset": Severity.WARNING,
    "overwritten": Severity.WARNING, "write-write": Severity.WARNING, "write-read": Severity.WARNING,
    "sent": Severity.WARNING, "late": Severity.WARNING, "missed-call": Severity.WARNING,
    "content-write": Severity.WARNING, "content-read": Severity.WARNING, "content-iterate": Severity.WARNING,
    "state-write": Severity.ERROR, "state-read": Severity.ERROR, "loop-write": Severity.ERROR,
}  # fmt: skip
OF_FEW_STEPS = frozenset({"update-update", "update-store", "count-count", "step-step", "check-act", "replace-change"})
# What a lock on one side does not mend.
UNMENDED = frozenset({"lost-wakeup", "hand-out", "overwritten", "hollow", "sent", "late", "missed-call"})
HARM = {
    "resize-iterate": "the iteration raises RuntimeError (changed size during iteration), or misses entries",
    "shift-iterate": "elements move up behind the removed one: the iteration skips some of them",
    "count-count": "one of two increments that overlap is lost: the count is too low",
    "step-step": "one of two increments that overlap is lost, where threads may change over just in between",
    "hand-out": "whoever iterates over what is returned meets the changes of others: RuntimeError, or missed entries",
    "update-update": "one of two updates that overlap is lost",
    "update-store": "an update that overlaps the store brings the old value back",
    "update-reset": "an update that overlaps the reset brings the old value back",
    "replace-change": "what is put into the old container while it is being replaced is lost",
    "check-act": "what was tested may no longer hold when it is acted upon: it is done twice, or on what is gone",
    "check-use": "what was there when it was tested may be gone when it is used",
    "lost-wakeup": "who notifies between the test and the wait wakes nobody: it waits for ever, or for the next time",
    "store-test": "it is decided by a value that is already another one",
    "missed-call": "it is kept when all that are kept have been called: nobody ever calls it",
    "late": "the thread meets an AttributeError if it comes there first, and ends",
    "sent": "who receives it reads it while it is changed: in Go the runtime may end the whole program",
    "overwritten": "a call finds what another call has stored there in the meantime",
    "store-store": "two writers overwrite each other's value",
    "write-write": "the writes race: which value stays, and whether it is whole, is not defined",
    "write-read": "the read races with the write: what it sees, and whether that is whole, is not defined",
    "content-write": "two writes of one map race: the runtime notices some of them and ends the whole program",
    "content-read": "a read and a write of one map race: the runtime notices some of them and ends the whole program",
    "state-write": "the object is not made for two at once: calls that overlap spoil its state, or it panics",
    "state-read": "the object is not made for two at once: what is read while it changes is not defined",
    "loop-write": "the loop may sleep on, as nothing wakes it: what it was to do comes late or never, or gets lost",
    "content-iterate": "a map is written while it is iterated: the runtime notices some cases and ends the program",
}
OF_LANGUAGE = {
    ("go", "hand-out"): "whoever uses what is returned races with the changes: the runtime may end the whole program",
}
QUEUES = {"go": "a channel", "python": "a queue"}
COPIES = {"go": "maps.Clone(...)", "python": "list(...), dict(...)"}


def context_words(access: Access) -> str:
    """The context of one side, in words."""
    if access.location.path.endswith(".go") and access.context.kind == "external":
        return "a caller"
    return WORDS.get(access.context.kind, access.context.kind)


def harm(race: Race) -> str:
    """What goes wrong, in the terms of the language."""
    return OF_LANGUAGE.get((race.language, race.shape), HARM[race.shape])


READ_SIDE = " (read side)"
CHANGES = frozenset(VERBS) - {"read", "return", "test", "iterate", "peek", "wait"}


def read_side(race: Race) -> str:
    """The lock on whose shared side something is written, "" if it is not so: others may hold that side at once."""
    if race.first.kind not in CHANGES:
        return ""
    theirs = {lock.removesuffix(READ_SIDE) for lock in race.second.locks}
    mine = [lock.removesuffix(READ_SIDE) for lock in race.first.locks if lock.endswith(READ_SIDE)]
    return next((lock for lock in mine if lock in theirs and race.guard in ("", lock)), "")


def verb(access: Access) -> str:
    """What one side does, as a participle."""
    return VERBS.get(access.kind, access.kind)


def severity(race: Race, program: Program) -> Severity:
    """How bad a race is, and how sure that it does harm: an error ends or spoils the program, and is hardly ever wrong.

    In Python the two have to come between two steps, but for who is not woken; without the GIL what is made of a few
    steps overlaps often, and not once in a blue moon. Go's runtime ends the program over a map as soon as it sees two
    at once, but of 51 such errors, in repositories that the rule had not been mended on, 30 were right, as large a
    share as of the warnings: whether two ever meet is what cannot be seen.
    """
    if program.is_free_threaded and race.language == "python":
        return Severity.ERROR if race.shape in OF_FEW_STEPS else SEVERITIES[race.shape]
    return Severity.ERROR if race.shape == "lost-wakeup" else min(SEVERITIES[race.shape], Severity.WARNING)


def confidence(race: Race) -> Confidence:
    """A race's confidence as the reports have it."""
    return Confidence(race.confidence)


def finding(race: Race, rule: str, severity: Severity, message: str, because: str, harm: str, mend: str) -> Finding:
    """A finding with both sides."""
    return Finding(
        rule=rule,
        severity=severity,
        confidence=confidence(race),
        location=race.location,
        message=message,
        symbol=race.symbol,
        function=race.function,
        accesses=(replace(race.first, role="first"), replace(race.second, role="second")),
        because=because,
        harm=harm,
        mend=mend,
        remedy=remedy(race),
    )


def remedy(race: Race) -> Remedy | None:
    """A lock that is there, taken over the side without one; a waiter's test and what is handed out need more."""
    lock = race.takeable
    if lock is None and race.shape in ("resize-iterate", "shift-iterate") and race.first.kind == "iterate":
        return _snapshot(race)
    if (
        lock is None
        or race.shape in ("lost-wakeup", "hand-out", "overwritten", "hollow", "late", "missed-call")
        or race.evidence in ("late-lock", "late-local")
    ):
        return None
    return hold(lock)


def _snapshot(race: Race) -> Remedy | None:
    """A copy is made in one step, as long as there is a GIL; that whoever goes on with it is content, nobody knows."""
    same = race.location == race.first.location
    return Remedy("snapshot", (race.location,), safe=False) if race.language == "python" and same else None


def hold(lock: Takeable) -> Remedy:
    """A lock to take; that it is the right one, and that nothing else waits for it there, nobody knows."""
    return Remedy("hold", lock.places, lock.lock, lock.field, lock.shared, lock.is_async, lock.avoid, safe=False)
