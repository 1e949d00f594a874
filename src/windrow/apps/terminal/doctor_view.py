"""The doctor's findings on the screen."""

from __future__ import annotations

import importlib
import time
from dataclasses import asdict

from windrow.apps.terminal.doctor import findings
from windrow.apps.terminal.screen import Screen
from windrow.compiling.notice import telling

__all__ = ["show_findings", "show_warming"]

_SIGNS = {"good": ("ok", "green"), "poor": ("!", "yellow"), "bad": ("x", "bold red")}
_NAME_WIDTH = 16


def show_findings(screen: Screen, *, starts_spark: bool) -> bool:
    """Shows each finding as it is made; whether Windrow can run here, if only in one process."""
    states = []
    with screen.progress("Checking this machine") as progress:
        for finding in findings(starts_spark=starts_spark):
            states.append(finding.state)
            screen.event("finding", asdict(finding))
            sign, style = _SIGNS[finding.state]
            screen.line(f"{sign:>2}  {finding.name:<{_NAME_WIDTH}} {finding.detail}", style)
            if finding.remedy:
                screen.line(f"    {'':<{_NAME_WIDTH}} {finding.remedy}")
            progress.show(f"{len(states)} checks")
    poor, bad = states.count("poor"), states.count("bad")
    words = f"{bad} failed, {poor} with a warning" if bad or poor else "all ok"
    screen.event("summary", {"good": states.count("good"), "poor": poor, "bad": bad})
    screen.line(words, "bold red" if bad else "yellow" if poor else "green")
    return not bad


def show_warming(screen: Screen) -> None:
    """Compiles ahead, form by form."""
    # Imported here, as it fails where Numba is broken, which the doctor has to be able to say.
    warming = importlib.import_module("windrow.apps.terminal.warming")
    total = len(warming.FORMS)
    start = time.monotonic()
    with screen.progress("Compiling") as progress, telling(lambda _text: None):
        for done, name in enumerate(warming.warm()):
            progress.show(f"{done + 1} of {total}: {name}", done / total)
            screen.event("compiling", {"form": name, "number": done + 1, "of": total})
            if not screen.is_live:
                screen.note(f"{done + 1} of {total}: {name}")
    screen.line(f"compiled or found in the cache in {time.monotonic() - start:.0f} s", "green")
