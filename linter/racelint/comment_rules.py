"""Rules about the comments that silence rules: their manual pages. The run reports them, for it sees what is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from racelint.finding import Finding
from racelint.rule import Rule, rule

if TYPE_CHECKING:
    from racelint.analysis.program import Program


@rule(languages=("python", "go"), since="0.2")
def unused_suppression(program: Program) -> Iterable[Finding]:
    """A comment that silences a rule stands where that rule reports nothing.

    ## What it finds

    `# racelint: ignore[...]` (in Go `//racelint:ignore ...`) that silences nothing; of several rules in one comment
    those that do not report there.

    ## Why it is a bug

    The code was mended or moved and the comment stayed: it will silence the next bug there, which nobody has looked at.

    ## Example

        with self._lock:
            self._hosts[host] = pool      # racelint: ignore[unlocked-shared-write] only one thread

    Use instead the line without the comment; `racelint check --fix` takes it away.

    ## How it decides

    A comment is used if a rule that it names reports something that it covers, also below the level that is shown, also
    in another file (a field's declaration). Silent where that cannot be told: a rule that it names was not run
    (`--select`, `ignore`, `per-file-ignores`), a file could not be analysed, only a part of a package or of a Go module
    was (`racelint check app/sub`), the file is not reported on (tests). A comment without names is judged if all rules
    were run. A rule that does not exist is told on standard error. `ignore[..., unused-suppression]` keeps a comment.

    ## Known limits

    A finding that moves to the other access of a race, because that has become the worse one, leaves its comment
    behind. At the field's declaration it would have stayed in force.
    """
    return ()


@rule(languages=("python", "go"), since="0.2")
def unexplained_suppression(program: Program) -> Iterable[Finding]:
    """A comment silences a rule and does not say why, where the configuration asks for a reason.

    ## What it finds

    With `require-reason = true`: `# racelint: ignore[...]` (in Go `//racelint:ignore ...`) with nothing behind.

    ## Why it is a bug

    Nobody can tell later whether what made the report harmless is still so.

    ## Example

        self._hosts[host] = pool      # racelint: ignore[unlocked-shared-write]

    Use instead

        self._hosts[host] = pool      # racelint: ignore[unlocked-shared-write] before the workers are started

    ## How it decides

    What stands after the closing bracket (in Go: after the names) is the reason, up to another tool's directive.

    ## Known limits

    Any text is a reason.
    """
    return ()


RULES: tuple[Rule, ...] = (unused_suppression, unexplained_suppression)
UNUSED, UNEXPLAINED = (each.name for each in RULES)
NAMES = frozenset({UNUSED, UNEXPLAINED})
