"""Programs for Python 2: where part of the files says so, the others mean the same."""

import textwrap

import pytest

from racelint.config import Settings
from racelint.plugins import BUILTIN
from racelint.plugins import load as load_packs
from racelint.run import Request, check

HOSTS = """
    class Hosts:
        def __init__(self):
            self.known = {}

        def forget(self):
            for name in self.known.keys():
                if not name:
                    del self.known[name]

        def forget_directly(self):
            for name in self.known:
                if not name:
                    del self.known[name]
"""


def lines(folder, others):
    for number, text in enumerate((HOSTS, *others)):
        (folder / f"m{number}.py").write_text(textwrap.dedent(text).lstrip())
    packs = load_packs(())
    rules = [rule for pack in packs if pack.name == BUILTIN for rule in pack.rules]
    return [finding.location.line for finding in check(Request((str(folder),), packs, Settings()), rules).findings]


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ((), [8, 13]),
        (("print 'a'\n", "print 'b'\n", "try:\n    import a\nexcept A, e:\n    pass\n"), [13]),
        (("print 'a'\n", "print 'b'\n", "for i in d.iteritems():\n    pass\n"), [13]),
        (("print 'a'\n", "print 'b'\n"), [8, 13]),
        (("print 'a'\n", "for i in d.iteritems():\n    pass\n", "d.has_key(1)\n"), [8, 13]),
        (("print 'a'\n", "print 'b'\n", "print 'c'\n", *["a = 1\n"] * 60), [8, 13]),
        (("def f(:\n", "def f(:\n", "def f(:\n"), [8, 13]),
        (("import Queue\n", "import json, urllib2\n", "from ConfigParser import NoOptionError\n"), [13]),
        (("import Queue\n", "import urllib2\n", "for i in d.iteritems():\n    pass\n"), [13]),
        (("from itertools import izip\n", "from string import maketrans\n", "import Queue\n"), [13]),
        (("from .itertools import izip\n", "from string import digits\n", "import Queue\n"), [8, 13]),
        (("try:\n    import Queue\nexcept ImportError:\n    import queue\n",) * 3, [8, 13]),
        (("import Queue.local\n", "import urllib2s\n", "from urlparse.other import a\n"), [8, 13]),
    ],
)
def test_a_program_of_which_part_runs_on_python_2_alone_has_lists_of_keys(tmp_path, others, found):
    assert lines(tmp_path, others) == found
