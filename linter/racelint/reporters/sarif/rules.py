"""The rules that ran, as SARIF's reporting descriptors, each with its manual page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LONGEST = 1024  # characters of a description that GitHub takes
TAGS = ["concurrency", "correctness"]


def descriptors(pages: Mapping[str, str], used: Iterable[str]) -> list[dict[str, Any]]:
    """A descriptor for each rule with a page, and for those that results name besides."""
    return [_descriptor(name, pages.get(name, "")) for name in dict.fromkeys((*pages, *used))]


def _descriptor(name: str, page: str) -> dict[str, Any]:
    summary = page.partition("\n\n")[0].replace("\n", " ").strip() or name
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": _cut(summary)},
        "fullDescription": {"text": _cut(summary)},
        "help": {"text": page or name, "markdown": f"# {name}\n\n{page or name}"},
        # The severity of a finding depends on the pair of accesses and stands with each result.
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": TAGS},
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
