"""The text of a script's file."""

from __future__ import annotations

from pathlib import Path

from windrow.errors import DataError

__all__ = ["read_script"]

SCRIPT_BYTES_LIMIT = 1 << 20  # far above what the parser takes, so that its error names its limit


def read_script(script: Path) -> str:
    """The text; refused where it is not UTF-8 or cannot be read."""
    try:
        with script.open("rb") as file:
            return file.read(SCRIPT_BYTES_LIMIT).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(
            "WD510",
            f"{script} cannot be read: {problem}",
            hint="give a text file in UTF-8; paths are relative to the working directory",
        ) from None
