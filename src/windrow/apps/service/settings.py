"""The settings of a service: from a file, the environment and the command line, the last one wins.

A file is TOML, a variable is called WINDROW_ and the setting's name in capitals. The token that
opens the console and the API is a secret: a file may name the file that holds it, not the token.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from windrow.errors import BindingError
from windrow.event_time import span_of
from windrow.memory_size import memory_of
from windrow.plan.nearest import nearest

__all__ = ["LOG_FORMATS", "LOG_LEVELS", "USUAL_PORT", "ServiceSettings", "read_settings"]

USUAL_PORT = 8642
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("json", "text")
TOKEN = "WINDROW_TOKEN"
TOKEN_CHARACTERS = 16  # at least: whoever guesses it can stop queries
PREFIX = "WINDROW_"


@dataclass(frozen=True)
class ServiceSettings:
    """What a service was told; token: None where one is made up at each start."""

    script: Path
    state: Path | None = None
    memory: str | None = None
    host: str = "127.0.0.1"
    port: int = USUAL_PORT
    allow_remote: bool = False
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    log_level: str = "info"
    log_format: str = "text"
    stop_within_s: float = 20.0
    token: str | None = field(default=None, repr=False)


def read_settings(
    file: Path | None, environment: Mapping[str, str], given: Mapping[str, Any]
) -> ServiceSettings:
    """The settings; given: by the command line, None where it says nothing."""
    said: dict[str, tuple[Any, str]] = {}
    if file is not None:
        said |= _of_file(file)
    for name in _READERS:
        variable = PREFIX + name.upper()
        if variable in environment:
            said[name] = (environment[variable], variable)
    said |= {
        name: (value, "the command line") for name, value in given.items() if value is not None
    }
    read = {
        name: _READERS[name](value, f"{name} in {place}") for name, (value, place) in said.items()
    }
    token_file = read.pop("token_file", None)
    read["token"] = _token(environment, token_file)
    if "stop_within" in read:
        read["stop_within_s"] = read.pop("stop_within")
    if "script" not in read:
        raise _wrong(
            "WB610",
            "the service has no script",
            'name one: windrow serve job.wql, or script = "job.wql" in the file of --config',
        )
    assert {*read} <= {each.name for each in fields(ServiceSettings)}
    return ServiceSettings(**read)


def _of_file(file: Path) -> dict[str, tuple[Any, str]]:
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise _wrong("WB611", f"{file} cannot be read: {problem}", "give a file of TOML") from None
    for name in read:
        if name == "token":
            hint = f"set {TOKEN} in the environment, or token_file in {file}"
            raise _wrong("WB612", f"{file} holds the token, which others may read there", hint)
        if name not in _READERS:
            guess = nearest(name, _READERS)
            hint = f"did you mean {guess}?" if guess else f"there are: {', '.join(_READERS)}"
            raise _wrong("WB613", f"there is no setting {name!r} in {file}", hint)
    folder = file.parent
    return {
        name: (
            str(folder / value) if name in _PATHS and isinstance(value, str) else value,
            str(file),
        )
        for name, value in read.items()
    }


def _token(environment: Mapping[str, str], file: Path | None) -> str | None:
    token = environment.get(TOKEN)
    if token is None and file is not None:
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as problem:
            hint = "name a file that holds the token alone"
            raise _wrong("WB614", f"the token cannot be read: {problem}", hint) from None
    if token is not None and not (len(token) >= TOKEN_CHARACTERS and token.isascii()):
        hint = "make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        message = f"the token is shorter than {TOKEN_CHARACTERS} characters, or not ASCII"
        raise _wrong("WB615", message, hint)
    return token


# ---- one value each, as TOML or a variable has it


def _path(value: Any, place: str) -> Path:
    return Path(_text(value, place))


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str | Path):
        raise _wrong("WB616", f"{place} is {value!r}", "give a text in quotes")
    return str(value)


def _memory(value: Any, place: str) -> str:
    text = _text(value, place)
    memory_of(text)
    return text


def _port(value: Any, place: str) -> int:
    is_number = isinstance(value, str) and value.isascii() and value.isdigit()
    port = int(value) if is_number or type(value) is int else -1
    if not 0 <= port <= 65_535:
        raise _wrong("WB616", f"{place} is {value!r}", "give a number from 0 to 65535")
    return port


def _flag(value: Any, place: str) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False}
    found = value if isinstance(value, bool) else words.get(str(value).lower())
    if found is None:
        raise _wrong("WB616", f"{place} is {value!r}", "give true or false")
    return found


def _names(value: Any, place: str) -> tuple[str, ...]:
    """A list, or in a variable names with commas between."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if not isinstance(value, list | tuple):
        raise _wrong("WB616", f"{place} is {value!r}", "give a list of names in quotes")
    return tuple(_text(each, place) for each in value)


def _one_of(words: tuple[str, ...]) -> Callable[[Any, str], str]:
    def read(value: Any, place: str) -> str:
        word = _text(value, place).lower()
        if word not in words:
            raise _wrong("WB616", f"{place} is {word!r}", f"use {', '.join(words)}")
        return word

    return read


def _seconds(value: Any, place: str) -> float:
    """A span such as '20 seconds', or seconds."""
    is_span = isinstance(value, int | float | str) and not isinstance(value, bool)
    seconds = span_of(value) / 1e6 if is_span else -1.0
    if seconds < 0:
        raise _wrong("WB616", f"{place} is {value!r}", "give a span, such as '20 seconds'")
    return seconds


def _wrong(code: str, message: str, hint: str) -> BindingError:
    return BindingError(code, message, hint=hint)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "script": _path,
    "state": _path,
    "memory": _memory,
    "host": _text,
    "port": _port,
    "allow_remote": _flag,
    "allow_hosts": _names,
    "read_only": _flag,
    "log_level": _one_of(LOG_LEVELS),
    "log_format": _one_of(LOG_FORMATS),
    "stop_within": _seconds,
    "token_file": _path,
}
_PATHS = ("script", "state", "token_file")
