"""Which edition of Python a file is written for, as far as that decides what its code means."""

import re

from racelint.model import Traits

OLD = Traits(live_views=False)
GONE = rb"(?:unicode|basestring|xrange|raw_input|unichr)"  # builtins that only Python 2 has
ONLY_2 = re.compile(
    rb"\.(?:iter(?:items|values|keys)\(\)|has_key\()"
    rb"|\b" + GONE + rb"\("
    rb"|\bisinstance\([^()\n]*,[^()\n]*\(?\b" + GONE + rb"\b"
)
FOR_BOTH = re.compile(
    rb"\b(?:six|future|builtins|compat|PY[23]|version_info|python_version|NameError|nonlocal)\b"
    rb"|\b(?:pandas|xarray)\b"  # their objects have such methods, too
)


def is_for_python_2(data: bytes) -> bool:
    """Whether a file uses what only Python 2 has, and nothing in it says that its author thought of Python 3.

    There `keys()`, `values()` and `items()` of a dict are lists, and to change the dict in a loop over one is no error.
    """
    return ONLY_2.search(data) is not None and FOR_BOTH.search(data) is None
