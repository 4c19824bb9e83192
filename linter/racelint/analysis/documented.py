"""What authors say: that many threads may use one object at once, that a lock is left out on purpose, or that only
tests call something.
"""

from __future__ import annotations

import re

from racelint.analysis.contexts import Contexts, Entry
from racelint.analysis.lifecycle import is_lifecycle
from racelint.analysis.symbols import Symbols
from racelint.analysis.values import TypeValue
from racelint.model import Function

SAFE = re.compile(
    r"^\s*(\w+\s+)?(an?\s+|provides\s+an?\s+)?(fully\s+|completely\s+)?thread[- ]?safe\b"
    r"|\b(is|are)\s+(\w+ly\s+)?(thread|goroutine)[- ]?safe\b"
    r"|\bsafe\s+for\s+(concurrent\s+(use|access)|use\s+(by|from|in)\s+(multiple|several|many|different)\s+\w+)"
    r"|\bcan\s+be\s+(safely\s+)?(shared|used)\s+(by|between|among|across|from)\s+(multiple\s+|several\s+|many\s+)?threads",
    re.IGNORECASE | re.MULTILINE,
)
NOT_SAFE = re.compile(
    r"\b(not|never|n't|un)\W*(be\s+|\w+ly\s+)?(thread[- ]?safe|safe\s+for)|thread[- ]?unsafe", re.IGNORECASE
)

PURPOSE = r"(on\s+purpose|intentional\w*|deliberate\w*|purposely|by\s+design)"
LOCKLESS = r"((no|not|without|un)\W*(\w+\s+){0,3}(lock\w*|mutex\w*|synchroni[sz]\w+)|lock[- ]?free|racy)"
DELIBERATE = re.compile(
    rf"\b{PURPOSE}\W+(\w+\W+){{0,4}}{LOCKLESS}|\b{LOCKLESS}\W+(\w+\W+){{0,4}}{PURPOSE}"
    r"|\b(cost|costs|overhead|price)\s+of\s+(\w+\s+){0,4}(lock\w*|mutex\w*|synchroni[sz]\w+)"
    r"|\b(benign|harmless|acceptable|tolerable)\s+(data\s+)?rac(e|y)\b"
    r"|\brace\s+(\w+\s+){0,2}(is|are)\s+(benign|harmless|acceptable|tolerable|fine|ok|okay)\b",
    re.IGNORECASE,
)

SENTENCE = re.compile(r"[.:;!]\s+|\n\s*\n")
OF_ITSELF = frozenset({
    "this", "it", "used", "only", "just", "solely", "to", "exported", "exposed", "meant", "intended", "should", "for",
})  # fmt: skip
FOR_TESTS = re.compile(
    r"\b(only|just|solely|exclusively)\s+(\w+\s+){0,4}(for|by|in|from|when|during)\s+((the|our|unit|e2e|integration)[\s-]+)*"
    r"(unit)?test(s|ing)?\b(?!\W+(if|whether|that|for|of|the|an?|membership)\b)|\btest-only\b",
    re.IGNORECASE,
)


def is_for_tests(function: Function) -> bool:
    """Whether a function's documentation says of it that only tests call it."""
    if not FOR_TESTS.search(function.doc):
        return False
    own = OF_ITSELF | {function.name.lower()}
    sentences = [sentence.split() for sentence in SENTENCE.split(function.doc)]
    said = [" ".join(words) for words in sentences if words and words[0].lower() in own]
    return any(FOR_TESTS.search(sentence) for sentence in said)


def is_deliberate(doc: str) -> bool:
    """Whether a function's documentation says that it does without a lock on purpose."""
    return bool(DELIBERATE.search(doc))


class Documented:
    """Finds the types whose documentation says that they are safe to share."""

    def __init__(self, symbols: Symbols, contexts: Contexts) -> None:
        self._symbols = symbols
        self._contexts = contexts
        self._safe: dict[str, bool] = {}

    def is_safe(self, type_id: str) -> bool:
        """Whether a type, its constructor or what it inherits from says that it may be used by many at once."""
        if type_id not in self._safe:
            line = [a.type for a in self._symbols.ancestors(type_id) if isinstance(a, TypeValue)]
            docs = [self._symbols.types[ancestor][1].doc for ancestor in line]
            constructor = self._symbols.method(type_id, "__init__")
            if constructor is not None:
                docs.append(self._symbols.functions[constructor][1].doc)
            said = any(SAFE.search(doc) for doc in docs if doc)
            self._safe[type_id] = said and not any(NOT_SAFE.search(doc) for doc in docs if doc)
        return self._safe[type_id]

    def shared_by(self, function_id: str, entry: Entry) -> str:
        """The type of a method, if that says so and callers have come in by one that is not for a single caller."""
        owner = self._symbols.owner_of(function_id)
        if self._contexts.roots[entry.context].kind != "external" or owner not in self._symbols.types:
            return ""
        if not self.is_safe(owner):
            return ""
        way = [caller for caller, _ in self._contexts.way(function_id, entry)]
        for method in (*way, function_id):
            _, function = self._symbols.functions[method]
            mine = self._symbols.owner_of(method)
            if mine in self._symbols.types and self.is_safe(mine):
                single = function.name == "__init__" or is_lifecycle(function.name) or function.binding != "instance"
                return "" if single else owner
        return ""
