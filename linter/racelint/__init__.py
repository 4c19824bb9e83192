"""racelint: a static concurrency-bug linter for controller code. Rule authors import `racelint.api`."""

__version__ = "0.1.0"
