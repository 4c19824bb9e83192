"""All that a rule may import: the one door between rules and the engine."""

from racelint.analysis.cachewrites import CacheMutation
from racelint.analysis.declared import Problem
from racelint.analysis.iteration import IterationConflict
from racelint.analysis.program import Program
from racelint.analysis.takeable import Takeable
from racelint.analysis.told import Race
from racelint.analysis.violations import Violation
from racelint.finding import Access, Confidence, Context, Edit, Finding, Fix, Location, Remedy, Severity, Span, Step
from racelint.rule import Rule, rule

__all__ = [
    "Access",
    "CacheMutation",
    "Confidence",
    "Context",
    "Edit",
    "Finding",
    "Fix",
    "IterationConflict",
    "Location",
    "Problem",
    "Program",
    "Race",
    "Remedy",
    "Rule",
    "Severity",
    "Span",
    "Step",
    "Takeable",
    "Violation",
    "rule",
]
