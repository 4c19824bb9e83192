"""Functions that users call once, or one after the other: by their names, as frameworks and people mostly have them."""

import re

LIFECYCLE = {
    "start", "stop", "open", "close", "aclose", "connect", "disconnect", "run", "main", "setup", "teardown", "shutdown",
    "init", "initialize", "initialise", "terminate", "finalize", "__aenter__", "__aexit__", "__enter__", "__exit__",
    "serve", "serve_forever", "launch", "begin", "bootstrap", "join", "wait_closed", "destroy", "cleanup", "__del__",
    "create",
}  # fmt: skip
STARTING = {
    "start", "open", "setup", "init", "initialize", "initialise", "launch", "begin", "bootstrap",
    "__enter__", "__aenter__",
}  # fmt: skip
CLOSING = {
    "stop", "close", "aclose", "disconnect", "teardown", "shutdown", "terminate", "finalize", "destroy", "cleanup",
    "__exit__", "__aexit__", "__del__",
}  # fmt: skip
MEASURING = {
    "perf", "performance", "stats", "stat", "statistics", "metric", "metrics", "telemetry", "usage", "profiler",
}  # fmt: skip
FIGURES = MEASURING | {"diagnostic", "diagnostics", "summary"}
SETTING_UP = {"setup", "init", "initialize", "initialise", "new", "prepare", "configure"}
BORDERS = LIFECYCLE - {"run", "main", "serve", "serve_forever", "create"}  # without what lasts as long as the object
REGISTERED = frozenset(
    {"listener", "handler", "callback", "hook", "observer", "func", "notifier", "listeners", "handlers"}
)
CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")  # where a word starts in mixed case


def is_lifecycle(name: str) -> bool:
    """Whether a public function is one that its users call once, or one after the other."""
    return name in LIFECYCLE or name.startswith(
        ("start_", "stop_", "close_", "setup_", "init_", "async_setup", "on_start")
    )


def is_starting(name: str) -> bool:
    """Whether a public function is one by which something is put into service: nobody uses it before."""
    return name in STARTING or name.startswith(("start_", "setup_", "init_", "async_setup", "on_start"))


def sets_up_program(name: str) -> bool:
    """Whether a plain function makes something ready for the whole program: `init_logging`, `register_codec`."""
    return is_starting(name) or name.startswith("register_")


def in_lower_case(name: str) -> str:
    """A name in mixed case as most of Python writes it: `SetUpLogging` as `setup_logging`."""
    return CAPITAL.sub("_", name).lower().replace("set_up", "setup")


def readies(name: str) -> bool:
    """Whether a method makes its object ready before it is put into service, by its first word: `init_host`."""
    return CAPITAL.split(name)[0].lower().split("_")[0] in SETTING_UP - {"new"}


def configures_service(name: str) -> bool:
    """Whether a method of a service is what its one client calls first.

    Not so `prepare`, `setup` or `initialize`, which frameworks call for each request.
    """
    return name.lower() == "configure"


def prepares(name: str) -> bool:
    """Whether a function makes an object or puts it into service, by its first word: `newStore`, `StartEtcd`."""
    return CAPITAL.split(name)[0].lower() in STARTING | {"new", "bootstrap", "prepare", "restore"}


def begins(name: str) -> bool:
    """Whether the life of an object begins with a call of a function, be it anew: `OpenStore`, `Connect`, `Reset`."""
    return prepares(name) or CAPITAL.split(name)[0].lower() in ("connect", "reset")


def decodes(name: str) -> bool:
    """Whether a decoder calls a method to fill an object: `UnmarshalJSON`, `UnmarshalYAML`."""
    return CAPITAL.split(name)[0] == "Unmarshal"


def serves(name: str) -> bool:
    """Whether a function lets requests in, when it has made all that they need: `Run`, `ListenAndServe`."""
    return CAPITAL.split(name)[0].lower() in ("run", "serve", "listen")


def sets_up(name: str) -> bool:
    """Whether a function gives an object its first values, by any of its words: `new`, `historian_setup`."""
    return not _words(name).isdisjoint(SETTING_UP)


def tears_down(name: str) -> bool:
    """Whether a function ends something, by any of its words: `_cleanup`, `after_stop`, `close_pool`."""
    return not _words(name).isdisjoint(CLOSING)


def measures(name: str) -> bool:
    """Whether a function or class keeps figures for people, by any of its words: `update_perf`, `Metrics`."""
    return not _words(name).isdisjoint(MEASURING)


def tells_figures(name: str) -> bool:
    """Whether a function says by its own name that it tells figures to people: `InternalMetrics`, `Summary`."""
    return not _words(name).isdisjoint(FIGURES)


def _words(name: str) -> set[str]:
    return {word.lower() for part in name.split("_") for word in CAPITAL.split(part)}


def is_registration(name: str) -> bool:
    """Whether a public function hands over what is to be called later: mostly before anything runs."""
    words = [word.lower() for word in CAPITAL.split(name)]
    return words[0] == "register" or (words[0] in ("add", "set", "with", "on") and words[-1] in REGISTERED)


def is_closing(name: str) -> bool:
    """Whether a function ends the life of its object: hardly anybody uses it any more."""
    return name.lstrip("_") in CLOSING or name in CLOSING


def is_border(name: str) -> bool:
    """Whether a function, public or not, begins or ends the life of its object, by its first word."""
    word = name.lstrip("_").removeprefix("on_")
    return name in BORDERS or word in BORDERS or CAPITAL.split(word)[0] in BORDERS
