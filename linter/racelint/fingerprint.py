"""What makes a finding the same finding after the lines around it have moved, and after its wording has changed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from racelint.finding import Finding

_MADE_UP = re.compile(r"@[0-9a-f]{8}(?::\d+)?|<[0-9a-f]{8}>")  # in names that the program does not give


def fingerprints(findings: Iterable[Finding], path: Callable[[str], str]) -> Iterator[str]:
    """One fingerprint a finding, in their order: of rule, path, function and place; an ordinal tells equals apart.

    There is neither a line number in it nor a message: that names contexts and counts, which come and go. If one of
    several equal findings goes, the fingerprints of all but the last one stay.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        names = (_MADE_UP.sub("", finding.function), _MADE_UP.sub("", finding.symbol))
        identity = (finding.rule, path(finding.location.path), *names)
        seen[identity] += 1
        text = "\0".join((*identity, str(seen[identity])))
        yield hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
