"""How a report is shown: formats and where each goes, colour, and how much is told besides.

`--format sarif --output a.sarif --format text`: each --output belongs to the --format before it.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from racelint.cli.streams import deliver, is_stdout, wants_colour
from racelint.report import Report
from racelint.reporters import FORMATS, Reporter, View, reporters

WITH_STATISTICS = ("text", "json")
ROOTS = {  # paths that a server shows are relative to its checkout, wherever racelint runs in it
    "sarif": "GITHUB_WORKSPACE",
    "github": "GITHUB_WORKSPACE",
    "gitlab": "CI_PROJECT_DIR",
}
_ORDER = f"{__name__}.order"


class Target(NamedTuple):
    """A format and the file that it goes to; None is standard output."""

    format: str
    output: Path | None


@dataclass(frozen=True, slots=True)
class Shape:
    """All that the options say of the report's looks."""

    targets: tuple[Target, ...]
    colour: str
    statistics: bool
    quiet: bool
    verbose: bool
    progress: bool

    def write(self, report: Report, view: Callable[[Target], View]) -> list[str]:
        """Write the report to each target, standard output last; what reporters had to leave out comes back."""
        table, notes = reporters(), list[str]()
        for target in sorted(self.targets, key=lambda target: is_stdout(target.output)):
            text, left_out = render(table[target.format], report, view(target))
            deliver(text, target.output)
            notes += left_out
        return notes

    def beside_patch(self) -> Shape:
        """The same without what would go to standard output, where a patch is."""
        return replace(self, targets=tuple([target for target in self.targets if not is_stdout(target.output)]))

    def shows_colour(self, target: Target) -> bool:
        """Whether a target takes colour: a file only if it is asked for."""
        return self.colour == "always" or (is_stdout(target.output) and wants_colour(self.colour, sys.stdout))


def render(reporter: Reporter, report: Report, view: View) -> tuple[str, Sequence[str]]:
    """The text of a report, and what is not in it."""
    stream = io.StringIO()
    notes = reporter(report, view, stream)
    return stream.getvalue(), notes or ()


def base_of(format_: str) -> str:
    """The directory that a format's paths are relative to."""
    here = Path.cwd()
    root = os.environ.get(ROOTS.get(format_, ""), "")
    return (Path(root) if root and here.is_relative_to(root) else here).as_posix()


class Command(click.Command):
    """A command that knows which --output stands behind which --format."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as usual, and remember the order of the two."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[_ORDER] = [parameter.name for parameter in order if parameter.name in ("formats", "outputs")]
        return super().parse_args(ctx, args)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that takes them as one argument, `shape`."""

    @functools.wraps(command)
    def packed(
        *args: Any, formats: tuple[str, ...], outputs: tuple[Path, ...], colour: str, statistics: bool, quiet: bool,
        verbose: bool, progress: bool, **others: Any,
    ) -> Any:  # fmt: skip
        targets = pair(formats, outputs, click.get_current_context().meta.get(_ORDER, ()))
        if statistics and not any(target.format in WITH_STATISTICS for target in targets):
            raise click.UsageError(f"--statistics goes with --format {' or '.join(WITH_STATISTICS)}")
        shape = Shape(targets, colour, statistics, quiet, verbose, progress and not quiet)
        return command(*args, shape=shape, **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed


_OPTIONS = (
    click.option(
        "--format",
        "formats",
        type=click.Choice(FORMATS),
        multiple=True,
        help="How to report [text]; several at once, each to the --output behind it.",
    ),
    click.option(
        "--output",
        "outputs",
        type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
        multiple=True,
        metavar="FILE",
        help="Write the format named before it to a file.",
    ),
    click.option("--statistics", is_flag=True, help="Count findings by rule; text shows that instead."),
    click.option("--quiet", "-q", is_flag=True, help="Show findings only: no progress, no notes, no last line."),
    click.option("--verbose", "-v", is_flag=True, help="Tell what is read and how long it takes."),
    click.option(
        "--color",
        "colour",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        help="Colour the text [auto: on a terminal, as NO_COLOR and FORCE_COLOR say].",
    ),
    click.option("--progress/--no-progress", default=True, help="Show a bar while files are read, on a terminal."),
)


def pair(formats: Sequence[str], outputs: Sequence[Path], order: Sequence[str]) -> tuple[Target, ...]:
    """The targets of formats and outputs, given in `order`; a single pair may stand in any. Raises UsageError."""
    if len(formats) <= 1 and len(outputs) <= 1:
        return (Target(formats[0] if formats else "text", outputs[0] if outputs else None),)
    targets, left = list[Target](), {"formats": iter(formats), "outputs": iter(outputs)}
    for name in order:
        value: Any = next(left[name])
        if name == "formats":
            targets.append(Target(value, None))
        elif not targets:
            raise click.UsageError(f"--output {value} stands before the --format that it belongs to")
        elif targets[-1].output is not None:
            raise click.UsageError(f"--format {targets[-1].format} has two outputs, {targets[-1].output} and {value}")
        else:
            targets[-1] = targets[-1]._replace(output=value)
    _check(targets)
    return tuple(targets)


def _check(targets: Sequence[Target]) -> None:
    shown = [target.format for target in targets if is_stdout(target.output)]
    if len(shown) > 1:
        raise click.UsageError(
            f"{' and '.join(shown)} would both go to standard output; put an --output FILE behind all but one --format"
        )
    files = [target.output.absolute() for target in targets if target.output and not is_stdout(target.output)]
    if len(set(files)) < len(files):
        raise click.UsageError("two formats have the same --output")
