"""Which field, variable, function or class of Python an annotation is about, and those that are written as code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from racelint.languages.notes import FUNCTIONS, PLACES, TYPES, Kind, Note, Notes, Target, names_of
from racelint.languages.prose import Prose
from racelint.languages.python.annotations import dotted
from racelint.languages.python.expressions import Expressions
from racelint.languages.python.scopes import FunctionScope
from racelint.model import Annotation, Attr, Build, Expr, Imported, Name, Star

CLASSES: dict[str, Kind] = {"GuardedBy": "guarded_by", "Confined": "confined"}
DECORATOR = "requires_lock"
MODULE = "annotations"  # that the decorator comes from, or a copy of it


def speaks(data: bytes) -> bool:
    """Whether a file may have annotations written as code."""
    return b"GuardedBy" in data or b"Confined" in data or DECORATOR.encode() in data


class Noted(Expressions):
    """Finds what annotations are about while statements are lowered."""

    def __init__(self, wide: Mapping[int, bytes]) -> None:
        super().__init__(wide)
        self.notes = Notes((), b"")
        self.prose = Prose((), b"")
        self.has_typed_notes = False
        self.annotations: list[Annotation] = []
        self._imports: dict[str, Imported] = {}
        self._variables: list[tuple[str, list[str], ast.stmt]] = []

    def note_targets(self, node: ast.Assign | ast.AnnAssign, targets: Sequence[Expr]) -> None:
        """Annotations of what a statement assigns or declares."""
        places = [place for target in targets for place in self._places(target)]
        if not places:  # local variables: it is not known yet whether other functions use them, too
            names = [target.name for target in targets if isinstance(target, Name) and target.scope == "local"]
            self._variables.append((self.scope.qualname, names, node))
            return
        last = node.end_lineno or node.lineno
        for target, owner, name in places:
            self.prose.add(target, owner, [name], node.lineno, last)
        notes = self.notes.take(PLACES, node.lineno, last)
        if self.has_typed_notes and isinstance(node, ast.AnnAssign):
            notes += self._typed(node.annotation)
        for note in notes:
            self.annotations += [self._mangled(note).about(*place) for place in places]

    def note_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, qualname: str) -> None:
        """Annotations of a function: around its signature, or above the first statement of its body."""
        first = min([node.lineno, *[decorator.lineno for decorator in node.decorator_list]])
        notes = self.notes.take(FUNCTIONS, first, max(node.lineno, node.body[0].lineno - 1), inside=True)
        if self.has_typed_notes:
            notes += [note for decorator in node.decorator_list if (note := self._of_decorator(decorator))]
        self.annotations += [self._mangled(note).about("function", "", qualname) for note in notes]

    def note_variables(self, scope: FunctionScope) -> None:
        """Annotations of the variables of a function that functions in it use, too."""
        for qualname, names, node in self._variables:
            shared = [name for name in names if name in scope.captured]
            if qualname == scope.qualname and shared:
                for note in self.notes.take(PLACES, node.lineno, node.end_lineno or node.lineno):
                    self.annotations += [self._mangled(note).about("variable", qualname, name) for name in shared]

    def note_type(self, node: ast.ClassDef, qualname: str) -> None:
        """Annotations of a class, in front of its body."""
        first = min([node.lineno, *[decorator.lineno for decorator in node.decorator_list]])
        notes = self.notes.take(TYPES, first, max(node.lineno, node.body[0].lineno - 1))
        self.annotations += [note.about("type", "", qualname) for note in notes]

    def all_annotations(self) -> tuple[Annotation, ...]:
        """All of the file, those that are about nothing last."""
        return (*self.annotations, *self.notes.left(), *self.prose.annotations())

    def _places(self, target: Expr) -> Iterator[tuple[Target, str, str]]:
        match target:
            case Name(name=name, scope="local") if self.scope.kind == "class" and self.scope.owner:
                yield "field", self.scope.owner, self.attribute_name(name)
            case Name(name=name, scope="global"):
                yield "global", "", name
            case Attr(base=Name(name=name, scope=scope), name=field) if scope != "global" and (
                owner := self.scope.instance_owner(name)
            ):
                yield "field", owner, field
            case Build(parts=parts):
                for part in parts:
                    yield from self._places(part.value if isinstance(part, Star) else part)
            case _:
                pass

    def _mangled(self, note: Note) -> Note:
        """A note whose names are those that Python stores."""
        if note.kind == "confined":
            return note
        return note._replace(names=tuple([tuple([self.attribute_name(part) for part in n]) for n in note.names]))

    # --- as code ------------------------------------------------------------------------------------------------------

    def _typed(self, annotation: ast.expr) -> list[Note]:
        """What stands in the `Annotated` of a type, also of a quoted one."""
        found: list[Note] = []
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                inner = _parsed(node.value)
                found += [n._replace(span=self.span(node)) for n in self._typed(inner)] if inner is not None else []
            elif isinstance(node, ast.Subscript) and self._named(node.value).rpartition(".")[2] == "Annotated":
                metadata = node.slice.elts[1:] if isinstance(node.slice, ast.Tuple) else []
                found += [note for item in metadata if isinstance(item, ast.Call) and (note := self._of_call(item))]
        return found

    def _of_call(self, call: ast.Call) -> Note | None:
        kind = CLASSES.get(self._named(call.func).rpartition(".")[2])
        return self._note(kind, call, [*call.args, *[keyword.value for keyword in call.keywords]]) if kind else None

    def _of_decorator(self, node: ast.expr) -> Note | None:
        called = self._named(node.func) if isinstance(node, ast.Call) else ""
        *module, name = called.split(".")
        if not isinstance(node, ast.Call) or name != DECORATOR or module[-1:] != [MODULE]:
            return None
        return self._note("requires_lock", node, node.args)

    def _named(self, node: ast.expr) -> str:
        """A dotted name, as it is called where it was imported from."""
        name = dotted(node)
        first, _, rest = name.partition(".")
        known = self._imports.get(first)
        if known is None:
            return name
        return ".".join([part for part in (known.module, known.name, rest) if part])

    def _note(self, kind: Kind, call: ast.Call, arguments: Sequence[ast.expr]) -> Note:
        texts = [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        text = ", ".join(texts)
        names = names_of(text) if kind != "confined" else ((text,),) if text else ()
        return Note(kind, text or ast.unparse(call), names if len(texts) == len(arguments) else (), self.span(call))


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
