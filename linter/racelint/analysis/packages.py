"""Packages of several files: one module whose files share their names, each function and type with its own file."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence

from racelint.model import Block, Module, Source


def by_module(sources: Iterable[Source]) -> dict[str, list[Source]]:
    """The sources of each module, by the module's id, in their order.

    A module's id is its dotted name (with its path where two files share one: a folder hides a file of its name beside
    it; with its folder where two packages do). A package beside another one of the same
    name, as tests from outside are, has its own name in its id.
    """
    found: dict[str, list[Source]] = {}
    homes: dict[str, str] = {}
    packages: dict[str, str] = {}
    sources = list(sources)
    folders = {os.path.dirname(source.path) for source in sources}
    hidden = {source.path for source in sources if os.path.splitext(source.path)[0] in folders}
    for source in sorted(sources, key=lambda source: (source.path in hidden, source.left_out)):
        package = source.module.package
        if not package:
            module = source.name if source.name not in found else f"{source.name}@{source.path}"
            found.setdefault(module, []).append(source)
            continue
        name = source.name if homes.setdefault(source.name, _folder(source)) == _folder(source) else _apart(source)
        if package.endswith("_test") or packages.setdefault(name, package) != package:
            module = f"{name}@{package}"
        else:
            module = name
            if module in found and found[module][0].module.package != package:  # another language's
                module = f"{name}@{package}"
        found.setdefault(module, []).append(source)
    return found


def is_beside(source: Source, modules: Mapping[str, Sequence[Source]]) -> bool:
    """Whether a file's package is none that others import: it lies beside the one of its folder, as tests do."""
    package = source.module.package
    files = modules.get(_apart(source)) or modules.get(source.name)
    if not package or not files:
        return False
    of_folder = files[0].module
    return of_folder.package != package and of_folder.language == source.module.language


def _folder(source: Source) -> str:
    return os.path.dirname(source.path)


def _apart(source: Source) -> str:
    """The id of a package in another folder than the first of its name."""
    return f"{source.name}@{_folder(source).replace(':', '_')}"


def merged(files: list[Source]) -> Module:
    """One module of all files; where two declare the same, as files for two systems do, what is built counts."""
    first = files[0].module
    if len(files) == 1 and not first.package:
        return first
    module = first._replace(
        imports={name: path for file in files for name, path in file.module.imports.items()},
        star_imports=tuple(dict.fromkeys(star for file in files for star in file.module.star_imports)),
        types={}, functions={}, globals={},
        attribute_stores=tuple(store for file in files for store in file.module.attribute_stores),
        constructions=tuple(made for file in files for made in file.module.constructions),
        fillings=tuple(filling for file in files for filling in file.module.fillings),
        doc="\n\n".join([file.module.doc for file in files if file.module.doc]),
    )  # fmt: skip
    bodies: dict[str, Block] = {}
    for file in files:
        elsewhere = file.module.types.keys() & module.types.keys() if file.left_out else frozenset()
        for qualname, record in file.module.types.items():
            module.types.setdefault(qualname, record._replace(methods=dict(record.methods)))
        for name, variable in file.module.globals.items():
            module.globals.setdefault(name, variable)
        for qualname, function in file.module.functions.items():
            if qualname.partition(".")[0] not in elsewhere:  # else of a type that is another one in what is built
                module.functions.setdefault(qualname, function)
            if function.is_initial and function.parent is None:
                bodies[qualname] = bodies.get(qualname, ()) + function.body
    for qualname, body in bodies.items():
        module.functions[qualname] = module.functions[qualname]._replace(body=body)
    for qualname, function in module.functions.items():
        if function.owner in module.types:
            module.types[function.owner].methods.setdefault(function.name, qualname)
    return module
