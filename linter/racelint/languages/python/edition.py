"""Which edition of Python a file is written for, as far as that decides what its code means."""

import re
from collections.abc import Sequence

from racelint.model import Module, Traits

OLD = Traits(live_views=False)
GONE = rb"(?:unicode|basestring|xrange|raw_input|unichr)"  # builtins that only Python 2 has
MOVED = frozenset(  # modules that have other names in Python 3
    {
        "BaseHTTPServer", "ConfigParser", "Queue", "SimpleHTTPServer", "SocketServer", "StringIO", "Tkinter",
        "__builtin__", "cPickle", "cStringIO", "cookielib", "copy_reg", "httplib", "urllib2", "urlparse", "xmlrpclib",
    }
)  # fmt: skip
LOST = {  # names that only Python 2 has in modules that both have
    "itertools": frozenset({"ifilter", "ifilterfalse", "imap", "izip", "izip_longest"}),
    "os": frozenset({"getcwdu"}),
    "string": frozenset({"atof", "atoi", "atol", "join", "letters", "lowercase", "maketrans", "split", "uppercase"}),
    "sys": frozenset({"maxint"}),
    "types": frozenset(
        {
            "BooleanType", "ClassType", "DictType", "FileType", "FloatType", "InstanceType", "IntType", "ListType",
            "LongType", "StringType", "StringTypes", "TupleType", "UnicodeType",
        }
    ),
    "urllib": frozenset({"quote", "quote_plus", "unquote", "unquote_plus", "urlencode", "urlopen", "urlretrieve"}),
}  # fmt: skip
OLD_NAME = b"(?:" + b"|".join(name.encode() for name in sorted(MOVED)) + rb")\b"
IMPORTED = re.compile(
    rb"^(?:import (?:[\w.]+, *)*" + OLD_NAME + rb"(?!\.)|from " + OLD_NAME + rb" import\b)", re.MULTILINE
)
TAKEN = re.compile(
    b"^from (?:" + "|".join(LOST).encode() + rb") import +(?:\([^)]*|[^\n]*)\b(?:"
    + "|".join(sorted(frozenset().union(*LOST.values()))).encode() + rb")\b",
    re.MULTILINE,
)  # fmt: skip
ONLY_2 = re.compile(
    rb"\.(?:iter(?:items|values|keys)\(\)|has_key\()"
    rb"|\b" + GONE + rb"\("
    rb"|\bisinstance\([^()\n]*,[^()\n]*\(?\b" + GONE + rb"\b"
)
FOR_BOTH = re.compile(
    rb"\b(?:six|future|builtins|compat|PY[23]|version_info|python_version|NameError|nonlocal)\b"
    rb"|\b(?:pandas|xarray)\b"  # their objects have such methods, too
)

REFUSED = re.compile(  # how the parser puts it
    r"^Missing parentheses in call to '(?:print|exec)'|^multiple exception types must be parenthesized"
    r"|^leading zeros in decimal integer literals|^Function parameters cannot be parenthesized"
)
FEWEST = 3  # files that only Python 2 can run, two of which only it can parse, or import
SHARE = 20  # of all its files at least one in so many


def is_for_python_2(data: bytes) -> bool:
    """Whether a file uses what only Python 2 has, and nothing in it says that its author thought of Python 3.

    There `keys()`, `values()` and `items()` of a dict are lists, and to change the dict in a loop over one is no error.
    """
    return ONLY_2.search(data) is not None and FOR_BOTH.search(data) is None


def outdated(data: bytes, module: Module) -> frozenset[str]:
    """The modules, and names out of others, that a file imports at once, whatever runs it, and only Python 2 has."""
    found = IMPORTED.search(data) is not None, TAKEN.search(data) is not None
    if not any(found) or FOR_BOTH.search(data) is not None:
        return frozenset()
    imports = module.imports.values()
    modules = frozenset(each.module for each in imports) & MOVED if found[0] else frozenset[str]()
    if not found[1]:
        return modules
    return modules | {f"{i.module}.{i.name}" for i in imports if not i.level and i.name in LOST.get(i.module, ())}


def misses_names(missed: frozenset[str]) -> bool:
    """Whether what only Python 2 has, of what a file imports, are names of a module that both have.

    Another module may be one of the program's own.
    """
    return any("." in name for name in missed)


def are_for_python_2(modules: Sequence[Module], refused: Sequence[str]) -> bool:
    """Whether a program runs on Python 2 alone, by the files of it that do; `refused` is why some cannot be parsed."""
    old = [module for module in modules if not module.traits.live_views or module.traits.outdated]
    names = frozenset[str]().union(*[module.traits.outdated for module in old])
    unparsed = sum(REFUSED.match(message) is not None for message in refused)
    sure = len(names) > 1 or misses_names(names)  # a module of the program's own may have one such name
    broken = unparsed + (sum(bool(module.traits.outdated) for module in old) if sure else 0)
    found = unparsed + len(old)
    return broken > 1 and found >= FEWEST and found * SHARE >= len(modules) + len(refused)
