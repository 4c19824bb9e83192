"""Record: the base of the model's and the analysis's facts.

At run time a record is a NamedTuple: cheap to make, to hash and to pickle. A type checker sees a frozen nominal class
instead, because comparing recursive tuple types by structure takes mypy minutes where nominal ones take none.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Self, dataclass_transform

    @dataclass_transform(frozen_default=True)
    class _RecordType(type):
        pass

    class Record(metaclass=_RecordType):
        """A frozen record with the fields that its class body declares."""

        def _replace(self, **changes: Any) -> Self: ...

else:
    Record = NamedTuple


def records(node: object) -> Iterator[object]:
    """All records in a statement, an expression or a block, and itself."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        if isinstance(found, tuple):
            todo += [part for part in found if isinstance(part, tuple)]
