"""What a remedy means in a Go file: edits of its text, found by tree-sitter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.finding import Fix, Remedy

if TYPE_CHECKING:
    from tree_sitter import Tree


def fix(tree: Tree, data: bytes, remedy: Remedy) -> Fix | None:
    """The edits of a file that do what a remedy says; None if there is no sure way."""
    return None
