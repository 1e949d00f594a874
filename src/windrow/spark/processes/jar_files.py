"""Jars for Spark's class path, as they are given: files, or folders that hold them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from windrow.errors import BindingError

__all__ = ["jar_files"]


def jar_files(given: Iterable[str | Path]) -> list[str]:
    """All jars: files as they are, of a folder those in it; Spark itself passes over what lacks."""
    return [jar for each in given for jar in _found(str(each))]


def _found(given: str) -> list[str]:
    if "://" in given:
        return [given]
    path = Path(given)
    if path.is_file():
        return [given]
    jars = sorted(map(str, path.glob("*.jar")))
    if not jars:
        what = "has no jar in it" if path.is_dir() else "does not exist"
        raise BindingError(
            "WB494", f"{given!r} {what}", hint="give the path of a jar, or of a folder of jars"
        )
    return jars
