"""The text of a script, of ours or of another system."""

from __future__ import annotations

from pathlib import Path

from windrow.apps.terminal.screen import Screen
from windrow.dialects import translate
from windrow.jobs.script_file import read_script

__all__ = ["script_text"]


def script_text(screen: Screen, script: Path, dialect: str) -> str:
    """The script in WQL; of another dialect, with notes about what differs."""
    text = read_script(script)
    if not dialect:
        return text
    translation = translate(text, dialect)
    for note in translation.notes:
        screen.note(f"line {note.line}: {note.text}")
    return translation.text
