"""The rule bad-annotation."""

from collections.abc import Iterator

from racelint.api import Confidence, Finding, Program, Severity, rule

HARM = "people believe what it says, and nothing checks it"
MENDS = {
    "guarded_by": "name a lock of the same object (self._lock), the module or the function, beside what it guards",
    "requires_lock": "name a lock of the same object (self._lock) or of the module, at the function's head",
    "confined": "put it beside a field, a module's variable, a function or a class",
}


@rule(languages=("python", "go"), since="0.2")
def bad_annotation(program: Program) -> Iterator[Finding]:
    """An annotation names a lock that does not exist, or stands beside nothing that it could be about.

    ## What it finds

    `guarded_by:` and `requires_lock:` whose lock is no attribute of the class and no variable of the module, or
    something that is no lock (a dict, a class without acquire and release); `guarded_by:` beside a function or a
    variable that no other function uses, `requires_lock:` that is not at the head of a function; a place with two
    guards.

    ## Why it is a bug

    After a rename or a move the annotation says what is no longer so, and is not checked any more.

    ## Example

        class Router:
            def __init__(self):
                self._mutex = threading.Lock()
                self._routes = {}                     # guarded_by: self._lock

    Use instead the lock's name:

        class Router:
            def __init__(self):
                self._mutex = threading.Lock()
                self._routes = {}                     # guarded_by: self._mutex

    In Go:

        type Store struct {
            mutex sync.Mutex
            items map[string]int // guarded_by: mu
        }

    ## How it decides

    A name is looked for in the class and its base classes (in Go also in what is embedded, and with or without a
    receiver's name in front), then in the module or package; `requires_lock` may name a parameter. It stands in a
    comment behind the declaration or alone above it, or in `Annotated[..., GuardedBy("_lock")]`. Silent: locks of
    classes that inherit from a library's class, whose attributes are not known; locks of unknown type; names in
    backticks; `confined:` followed by prose.

    ## Known limits

    One lock a place: places that are guarded by either of two locks cannot be annotated.
    """
    for problem in program.bad_annotations():
        yield Finding(
            rule="bad-annotation",
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            location=problem.location,
            message=problem.message,
            symbol=problem.symbol,
            function="",
            because=problem.because,
            harm=HARM,
            mend=MENDS[problem.kind],
        )
