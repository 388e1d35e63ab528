"""The tools, as the scripts of the wheel run them."""

import signal
import sys
from collections.abc import Callable

from popef import _popef


def popef() -> None:
    """Runs the tool `popef` with the arguments of the process."""
    _run(_popef.run_popef, "popef")


def popef_dump() -> None:
    """Runs the tool `popef-dump` with the arguments of the process."""
    _run(_popef.run_popef_dump, "popef-dump")


def _run(tool: Callable[[list[str]], None], name: str) -> None:
    # The tool handles Ctrl-C itself. Python only notes the signal for later, and the tool would not end.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    tool([name, *sys.argv[1:]])
