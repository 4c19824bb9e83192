"""What a remedy means in a Go file: edits of its text, as gofmt would have it. Loaded only when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racelint.finding import Fix, Remedy
from racelint.languages.go.block import File
from racelint.languages.go.copying import deep_copy
from racelint.languages.go.holding import hold

if TYPE_CHECKING:
    from tree_sitter import Tree


def fix(tree: Tree, data: bytes, remedy: Remedy) -> Fix | None:
    """The edits of a file that do what a remedy says; None if there is no sure way."""
    file = File(data, remedy.places[0].path)
    match remedy.kind:
        case "hold":
            return hold(file, tree.root_node, remedy)
        case "deep-copy":
            return deep_copy(file, tree.root_node, remedy)
        case _:
            return None
