"""Where a shell's statements and commands act: the screen, the workbench, and who sits there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.apps.shell.watching import watch
from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.screen import Screen

__all__ = ["Desk"]


@dataclass
class Desk:
    """is_interactive: somebody types, and can press a key to end what is watched."""

    screen: Screen
    is_interactive: bool = False
    bench: Workbench = field(default_factory=Workbench)
    is_left: bool = False

    def watch(self, names: Sequence[str]) -> None:
        """Shows how queries stand until a key is pressed."""
        watch(self.screen, self.bench, names)
