"""What the rules about annotations have in common: findings of lines that break one."""

from racelint.api import Access, Confidence, Finding, Location, Severity, Violation
from racelint_rules._shared import hold

SAID = {
    "access": "guarded_by", "hand-out": "guarded_by", "call": "requires_lock", "start": "requires_lock",
    "outside": "confined",
}  # fmt: skip


def broken(violation: Violation, rule: str, severity: Severity, message: str, harm: str, mend: str) -> Finding:
    """A finding at a line that breaks an annotation, with what is done there and where the annotation stands."""
    return Finding(
        rule=rule,
        severity=severity,
        confidence=Confidence(violation.confidence),
        location=violation.access.location,
        message=message,
        symbol=violation.symbol,
        function=violation.function,
        accesses=(violation.access, Access("declared", "says", violation.declared, "")),
        because=f"{SAID[violation.kind]}: {violation.name} is said at {near(violation)}",
        harm=harm,
        mend=mend,
        remedy=hold(violation.takeable) if violation.takeable else None,
    )


def near(violation: Violation) -> str:
    """Where the annotation stands, as short as the reader of the finding needs it."""
    place: Location = violation.declared
    same = place.path == violation.access.location.path
    return f"line {place.line}" if same else f"{place.path.rpartition('/')[2]}:{place.line}"
