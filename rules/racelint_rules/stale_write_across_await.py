"""The rule stale-write-across-await."""

from collections.abc import Iterator

from racelint.api import Finding, Program, Race, Severity, rule
from racelint_rules._shared import context_words, finding, harm, verb


@rule(languages=("python",), since="0.2")
def stale_write_across_await(program: Program) -> Iterator[Finding]:
    """A task tests or reads a place, waits, and then writes it by what it had read before.

    ## What it finds

    In coroutines: a write that depends, by a condition or by data, on a read of the same place from before a suspension
    (`await`, `async for`, `async with`, `yield` in old coroutines), while another task, or another instance of this
    one, may write the place meanwhile and no asyncio lock is held over both.

    Also: what one of several tasks stores of what it alone was given (its message, its request) in a field of an object
    that they share, to read it again after a suspension.

    ## Why it is a bug

    While a coroutine waits, others run. What was tested before need not hold afterwards: the connection is opened twice
    and one of them leaks, the update of the other task is lost.

    ## Example

        class Client:
            def __init__(self):
                self._lock = asyncio.Lock()
                self._connection = None

            async def connection(self):
                if self._connection is None:
                    self._connection = await connect()     # two callers at once: two connections
                return self._connection

    Use instead:

        async def connection(self):
            async with self._lock:
                if self._connection is None:
                    self._connection = await connect()
            return self._connection

    ## How it decides

    Other tasks are those that the project starts, and callers of public coroutines, which may run several at once.
    Suspensions inside called coroutines count. Silent: a fresh check after the last suspension, a lock held over both,
    a value set before the suspension, memos whose value has no identity, objects of one task alone.

    It is a warning, for a test of something else may stand in for the one that went stale. Confidence is low (hidden)
    where only callers from outside come together, unless the new value is computed from the old one, or something is
    opened and the class has a lock between tasks or says that several may use it; for what is given up after it has
    been waited for, or taken out by its key (its owner mostly does that, and he alone); where what is waited for may
    never suspend; for callers of start(), stop() and the like, which are called once; over long chains of calls; and
    where an object may be the task's own.

    What a task keeps for itself is shown only between tasks that the project starts, several at a time on one object:
    callers may mean to set what others are to see. Silent: what is stored anew before it is read.

    ## Known limits

    Branches are not told apart: a wait on one way counts for what follows it on the other.

    A check in one function and a write two calls further down are connected only if the write's path can be told.
    """
    for race in program.stale_writes():
        yield finding(
            race,
            "stale-write-across-await",
            Severity.WARNING,
            _message(race),
            f"other tasks run while this one waits, and {context_words(race.second)} may have {verb(race.second)} it",
            "what was read before the wait may no longer hold: the work is done twice, or the other write is lost",
            "hold an asyncio.Lock over both, or test again after the wait",
        )
    for race in program.overwritten():
        yield finding(
            race,
            "stale-write-across-await",
            Severity.WARNING,
            f"{race.symbol} is stored by {context_words(race.first)} for itself, and read by it after a wait",
            "several of these tasks run on one object, and each of them stores it anew",
            harm(race),
            "keep it in a local variable of the call, and pass it on as an argument",
        )


def _message(race: Race) -> str:
    line = f" at line {race.check.line}" if race.check else ""
    return f"{race.symbol} is {verb(race.first)} after a wait, by what was read before it{line}"
