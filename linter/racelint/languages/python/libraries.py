"""Folders in which a program keeps libraries of others that it brings along."""

from __future__ import annotations

from collections.abc import Sequence

# Libraries that others come with, and that nobody names a module of his own after, as one does after `requests`.
HELPERS = frozenset({
    "appdirs", "argparse", "bencode", "bs4", "certifi", "chardet", "charset_normalizer", "colorama", "configobj",
    "dateutil", "decorator", "feedparser", "html5lib", "idna", "importlib_metadata", "importlib_resources",
    "markupsafe", "more_itertools", "oauthlib", "ordereddict", "packaging", "pkg_resources", "pyasn1", "pycparser",
    "pyparsing", "pytz", "rarfile", "rsa", "simplejson", "six", "soupsieve", "typing_extensions", "tzlocal",
    "unidecode", "webencodings", "xmltodict", "zipp",
})  # fmt: skip
MANY_HELPERS = 4  # a folder with so many of them holds the libraries of a program that brings its own


def libraries(paths: Sequence[str]) -> tuple[str, ...]:
    """The folders (with a slash) below the root that a program keeps libraries of others in, by what lies there."""
    helpers: dict[str, set[str]] = {}
    for path in paths:
        *folders, name = path.removesuffix("/__init__.py").split("/")
        if (
            folders
            and (stem := name.removesuffix(".py")) in HELPERS
            and (path.endswith("/__init__.py") or stem != name)
        ):
            helpers.setdefault("/".join(folders) + "/", set()).add(stem)
    return tuple(sorted(folder for folder, found in helpers.items() if len(found) >= MANY_HELPERS))
