"""Entry point of `python -m racelint` and of the `racelint` script."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. An interrupt while its modules are imported ends the process without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from racelint.cli import main

    main()


if __name__ == "__main__":
    main()
