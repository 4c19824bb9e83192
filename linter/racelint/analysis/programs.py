"""Programs: which packages are part of an application, whose callers the repository shows."""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from functools import cached_property

from racelint.analysis.importing import Importing, package_of
from racelint.analysis.product import EXAMPLES
from racelint.analysis.symbols import Symbols

ENDINGS = ("test", "tests", "testing", "testutil", "testutils", "testhelper", "testhelpers")
TESTS = frozenset({"e2e", "testdata", "interop", "integration"})
BELOW = frozenset({"cmd", "cmds", "app", "apps", "pkg", "internal"})  # where the packages of a module's programs lie
AIDS = EXAMPLES | {
    *TESTS, "test", "tests", "hack", "tools", "tool", "codegen", "build", "images", "third_party", "profiling",
    "stress",
}  # fmt: skip


class Programs:
    """Answers for packages, in languages that say which package is a program."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self.importing = Importing(symbols)
        folders = {os.path.dirname(source.path) for source, _ in symbols.functions.values()}
        self._root = os.path.commonpath(folders) if folders else ""  # the module's path may have any words in it
        self._mains = {package_of(symbols.functions[f][0].name) for f in symbols.functions if self._is_program(f)}
        self._folders = {_folder(main) for main in self._mains}
        self._meet: dict[frozenset[str], bool] = {}

    def have(self, module: str) -> bool:
        """Whether a package is part of an application."""
        if "internal" in module.partition("@")[0].split("/"):
            return True
        return self.use(module) and any(f"{module}/".startswith(f"{folder}/") for folder in self._folders)

    def use(self, module: str) -> bool:
        """Whether a program is made with a package, wherever that lies: others may use it, too."""
        return not self._mains.isdisjoint(self.importing.programs(module))

    def hold(self, functions: Iterable[str]) -> bool:
        """Whether some program can have all of several functions in it, as far as the repository shows its programs.

        Others may put together what is in none of them; an example or a tool shows that packages may meet, too.
        """
        packages = frozenset([package_of(self._symbols.functions[each][0].name) for each in functions])
        if packages not in self._meet:
            self._meet[packages] = not all(map(self.use, packages)) or bool(
                frozenset.intersection(*map(self.importing.programs, packages))
            )
        return self._meet[packages]

    def serve_tests(self, module: str) -> bool:
        """Whether a package is there for tests by its name or a folder's, like `httptest`, and none of the repository's
        programs is made with it.
        """
        named = any(part in TESTS or part.endswith(ENDINGS) for part in package_of(module).split("/"))
        return bool(self._mains) and named and not self.use(module)

    def leave_to_tests(self, module: str) -> bool:
        """Whether the tests of other packages are made with a package and no program is, be it an example or a tool."""
        return package_of(module) in self._tested and not self.importing.programs(module)

    @cached_property
    def _tested(self) -> frozenset[str]:
        """The packages that tests which lie elsewhere import; nothing without a program."""
        if not self._mains:
            return frozenset()
        homes = {
            package_of(source.name): os.path.dirname(source.path) for source, _ in self._symbols.functions.values()
        }
        tests = [words for words in self._symbols.words if not words.known]
        return frozenset(
            [each for words in tests for each in words.packages if os.path.dirname(words.path) != homes.get(each)]
        )

    def _is_program(self, function_id: str) -> bool:
        """Whether a program starts in a function, one that is no example, test or tool."""
        source, function = self._symbols.functions[function_id]
        if function.name != "main" or function.owner or source.module.package != "main":
            return False
        shown = source.reported and not self._symbols.stands_in(function_id)
        return shown and AIDS.isdisjoint(source.path[len(self._root) :].lower().split("/")[:-1])


def _folder(main: str) -> str:
    """The folder with all packages that a program is made of, as modules mostly are laid out."""
    parts = main.split("/")
    ends = [index for index, part in enumerate(parts) if part in BELOW]
    return "/".join(parts[: ends[0]] if ends else parts)
