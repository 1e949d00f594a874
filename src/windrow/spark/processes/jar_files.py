"""Jars for Spark's class path, as they are given: files, folders that hold them, or coordinates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from windrow.errors import BindingError

__all__ = ["jar_files", "package_names"]

_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+\Z")


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


def package_names(given: Iterable[str]) -> list[str]:
    """Maven coordinates; refused where one is none: Spark would say so in a stack of Java's."""
    names = list(given)
    for name in names:
        if not _COORDINATES.match(name):
            raise BindingError(
                "WB495",
                f"{name!r} is not the name of a package of Maven's",
                hint="give group:artifact:version, such as "
                "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0",
            )
    return names
