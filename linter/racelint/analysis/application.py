"""Applications: code that nobody outside of the repository calls, in languages that say which package is a program.

An exported method there has the callers that the repository shows, and those through an interface. In other languages
it is the tests and examples of a repository that show what is called from outside (`Mentions`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from racelint.analysis.contexts import targets
from racelint.analysis.edges import Edges
from racelint.analysis.effects import UNCOUNTED
from racelint.analysis.importing import package_of
from racelint.analysis.mentions import Mentions
from racelint.analysis.product import Product
from racelint.analysis.programs import Programs
from racelint.analysis.singles import START
from racelint.analysis.speaking import Speaking
from racelint.analysis.symbols import Symbols
from racelint.analysis.type_names import project_class
from racelint.analysis.types import Types
from racelint.knowledge import EntryRow, Knowledge
from racelint.model import Function, TypeRef

SORTED = frozenset({"Len", "Less", "Swap"})  # what `sort` asks for, as does `container/heap`
CGO = "C"  # what a file imports that is called from there, or calls it
PRINTED = frozenset({"String", "GoString", "Error"})  # fmt and loggers call them


class Application:
    """Tells which methods have no caller."""

    def __init__(
        self, symbols: Symbols, types: Types, product: Product, edges: Edges, knowledge: Knowledge, entered: Set[str]
    ) -> None:  # fmt: skip
        self._symbols = symbols
        self._annotations = types.annotations
        self._programs = Programs(symbols)
        self._speaking = Speaking(symbols, product, self._programs.importing)
        self._asked: dict[str, set[tuple[str, int]]] = defaultdict(set)
        # where objects of unknown type are asked for a method, and with how many arguments
        for function_id, effects in product.effects.items():
            for name, count in effects.asked:
                self._asked[name].add((package_of(self._module(function_id)), count))
        used = edges.called | {
            target.function
            for each in product.effects.values()
            for start in each.starts.values()
            for target in targets(start.callee)
        }
        self._offering: dict[str, list[str]] = defaultdict(list)  # interfaces, by their methods
        self._demanding: dict[str, list[str]] = defaultdict(list)  # those that are called
        for interface, (source, record) in symbols.types.items():
            for name in record.methods if record.is_interface else ():
                self._offering[name].append(interface)
                if f"{source.name}:{record.methods[name]}" in used:
                    self._demanding[name].append(interface)
        self._mentions = Mentions(symbols, product, knowledge)
        takers = {(owner, taker) for row in knowledge.concurrency.entries for owner in self._entered(row, entered)
                  for taker in row.takers}  # fmt: skip
        handed = {handed for each in product.effects.values() for handed in each.handed}
        self._handed = {type_id for type_id, _ in handed - takers}

    def _entered(self, row: EntryRow, entered: Set[str]) -> Iterator[str]:
        """The types of which a library calls a method that a row is about."""
        for function_id in entered if row.takers else ():
            if self._symbols.functions[function_id][1].name in row.methods:
                yield self._symbols.owner_of(function_id)

    def is_uncalled(self, function_id: str) -> bool:
        """Whether a method or function that no call is known to lead to has no caller at all."""
        source, function = self._symbols.functions[function_id]
        if source.module.traits.duck_typed:
            return self._mentions.is_forgotten(function_id)
        if not self._symbols.is_ordered_by_steps(function_id):
            return False
        if self._programs.serve_tests(source.name):
            return True  # tests call it, mostly when what it has started is idle
        if function.name in SORTED and self._is_sorted_at_home(self._symbols.owner_of(function_id)):
            return True
        if not self._programs.have(source.name):
            return self._is_left_over(function_id)
        if function.owner and self._symbols.making.is_only_tested(self._symbols.owner_of(function_id)):
            return True  # only tests have such objects
        if not function.owner:
            inside = "internal" in source.name.partition("@")[0].split("/")  # who may import it is all here
            named = function.name in START or bool(self._asking(function))
            return (inside and "." not in function.qualname and not named) or self._is_left_over(function_id)
        owner = self._symbols.owner_of(function_id)
        if function.name in PRINTED and function.returns is not None and function.returns.name == "string":
            return True  # whoever prints the object
        if owner in self._handed and not self._is_of_program(function_id):
            return False
        if self._is_asked(owner, function):
            return False
        return not self._is_behind_interface(owner, function.name)

    def is_left_to_tests(self, function_id: str) -> bool:
        """Whether tests call a function of a package that the repository's programs use, and they alone do.

        It is asked of what no call of the program is known to lead to. There may be users elsewhere.
        """
        source, function = self._symbols.functions[function_id]
        if function.owner or "." in function.qualname or function.name in START or CGO in source.module.imports:
            return False
        if not self._symbols.is_ordered_by_steps(function_id) or not self._programs.use(source.name):
            return False
        return self._speaking.only_tests_mean(function.name, package_of(source.name)) and not self._asking(function)

    def _is_left_over(self, function_id: str) -> bool:
        """Whether nobody speaks of a method or function, be it a test, in a package that the repository's programs use.

        What users of a library call is nearly always called by its tests. C finds functions by their names, as do
        plug-ins those of a main package.
        """
        source, function = self._symbols.functions[function_id]
        owner = self._symbols.owner_of(function_id)
        if not self._programs.use(source.name) or self._is_spoken_of(owner or function_id, function.name):
            return False
        if not function.owner:
            found = source.module.package == "main" or CGO in source.module.imports
            return not (found or function.name in START or "." in function.qualname or self._asking(function))
        if self._is_asked(owner, function) or self._is_behind_interface(owner, function.name):
            return False
        return owner not in self._handed or self._is_of_program(function_id)

    def _is_spoken_of(self, declared: str, name: str) -> bool:
        """Whether somebody may mean a type's method by a name, or a function, whom the program's calls do not show."""
        interfaces = [each for each in self._offering.get(name, ()) if declared in self._symbols.subtypes(each)]
        packages = {package_of(each.rpartition(":")[0]) for each in (declared, *interfaces)}
        return self._speaking.may_mean(name, packages)

    def _is_sorted_at_home(self, type_id: str) -> bool:
        """Whether objects of a package's own type can be sorted: who does that makes all calls, under his locks."""
        own = type_id.rpartition(":")[2][:1].islower()
        return own and all(self._symbols.method(type_id, name) is not None for name in SORTED)

    def _is_of_program(self, function_id: str) -> bool:
        """Whether a signature names a type of the program: no interface of a library can demand it."""
        function = self._symbols.functions[function_id][1]
        written = [function.returns, *[parameter.annotation for parameter in function.parameters[1:]]]
        return any(self._names_own(function_id, ref) for ref in written if ref is not None)

    def _names_own(self, function_id: str, ref: TypeRef) -> bool:
        if project_class(self._annotations.declared(function_id, ref)) is not None:
            return True
        return any(self._names_own(function_id, arg) for arg in ref.args)

    def _asking(self, function: Function) -> set[str]:
        """The packages in which objects of unknown type are asked for a method of a name, with as many arguments."""
        own = function.parameters[1:] if function.owner else function.parameters
        open_end = any([parameter.kind == "variadic" for parameter in own])
        return {
            package
            for package, count in self._asked.get(function.name, ())
            if count in (UNCOUNTED, len(own)) or (open_end and count >= len(own) - 1)
        }

    def _is_asked(self, owner: str, function: Function) -> bool:
        """Whether an object of unknown type is asked for a method, which may be of a type.

        Where an interface of the program has the method, who asks knows the type, or that interface.
        """
        asking = self._asking(function)
        interfaces = [each for each in self._offering.get(function.name, ()) if owner in self._symbols.subtypes(each)]
        if not interfaces:
            return bool(asking)
        known = {package_of(each.rpartition(":")[0]) for each in (owner, *interfaces)}
        return any(not known.isdisjoint(self._programs.importing.reached(package)) for package in asking)

    def _is_behind_interface(self, owner: str, name: str) -> bool:
        """Whether an interface that something calls demands a method, of the type or of one that embeds it."""
        return any(owner in self._symbols.subtypes(interface) for interface in self._demanding.get(name, ()))

    def _module(self, function_id: str) -> str:
        return self._symbols.functions[function_id][0].name if function_id in self._symbols.functions else ""
