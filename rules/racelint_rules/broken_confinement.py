"""The rule broken-confinement."""

from collections.abc import Iterator

from racelint.api import Finding, Program, Severity, Violation, rule
from racelint_rules._annotated import broken
from racelint_rules._shared import context_words, verb

LOOP = "hand the work to its context: loop.call_soon_threadsafe(...), asyncio.run_coroutine_threadsafe(...), or a queue"
OTHER = "hand the work to its context, by a queue or a channel"


@rule(languages=("python", "go"), since="0.2")
def broken_confinement(program: Program) -> Iterator[Finding]:
    """What an annotation confines to one context is used in another one.

    ## What it finds

    A field, a class, a module's variable or a function with the annotation `confined: event-loop` (or `main-thread`, or
    any other name) that a started thread, a pool's worker or a goroutine accesses or calls.

    ## Why it is a bug

    What only one context uses needs no lock; so it has none, and the access from another context races with all others.

    ## Example

        class Hub:
            def __init__(self, loop):
                self.loop = loop
                self.sessions = {}                    # confined: event-loop

            def start(self):
                threading.Thread(target=self._expire).start()

            def _expire(self):
                self.sessions.clear()                 # on the thread

    Use instead:

        def _expire(self):
            self.loop.call_soon_threadsafe(self._clear)

        def _clear(self):
            self.sessions.clear()

    In Go:

        type Hub struct {
            sessions map[string]int // confined: dispatch
        }

        func (h *Hub) Start() {
            go h.dispatch()
            go h.expire()
        }

        // confined: dispatch
        func (h *Hub) dispatch() {
            h.sessions["new"]++
        }

        func (h *Hub) expire() {
            clear(h.sessions)                         // on another goroutine
        }

    ## How it decides

    Reported are contexts that are surely others: for the event loop of Python and for `main-thread` any thread, pool
    worker or goroutine that the project starts. With another name the context is known by the functions that are said
    to be confined to it, too (the one that the thread runs); if none is, nothing is reported. What runs in such a
    function, and in what it calls, is in its context. On confined places the rules about races are silent, and so they
    are for two functions that are confined to one context.

    ## Known limits

    Request handlers, callbacks of libraries and callers from outside are believed to be in the right context.
    """
    for violation in program.escapes():
        severity = Severity.ERROR if violation.writes or violation.iterates or _is_go(violation) else Severity.WARNING
        yield broken(
            violation,
            "broken-confinement",
            severity,
            f"{violation.symbol}, confined to {violation.name}, is {_done(violation)} by "
            f"{context_words(violation.access)}",
            "it races with what its own context does, which takes no lock",
            LOOP if violation.language == "python" and "loop" in violation.name else OTHER,
        )


def _is_go(violation: Violation) -> bool:
    return violation.language == "go"


def _done(violation: Violation) -> str:
    return "called" if violation.access.kind == "calls" else verb(violation.access)
