"""What makes a finding the same finding after the lines around it have moved."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from racelint.finding import Finding
from racelint.reporters import View


def fingerprints(findings: Iterable[Finding], view: View) -> Iterator[str]:
    """One fingerprint a finding, in their order: no line numbers, an ordinal tells equals apart."""
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        message = re.sub(r"\d+", "#", finding.message)
        identity = (finding.rule, view.path(finding.location.path), finding.function, finding.symbol, message)
        seen[identity] += 1
        text = "\0".join((*identity, str(seen[identity])))
        yield hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
