"""What a service is told: by a file, the environment and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windrow.apps.service.settings import ServiceSettings, read_settings
from windrow.errors import BindingError

TOKEN = "a-token-of-24-characters"
FILE = """
script = "job.wql"
state = "state"
port = 9000
allow_hosts = ["windrow"]
stop_within = "1 minute"
log_format = "json"
"""


def settings_of(
    tmp_path: Path, text: str | None = None, environment: dict[str, str] | None = None, **given: Any
) -> ServiceSettings:
    file = None
    if text is not None:
        file = tmp_path / "windrow.toml"
        file.write_text(text)
    return read_settings(file, environment or {}, given)


def test_the_last_one_wins(tmp_path: Path) -> None:
    environment = {"WINDROW_PORT": "9001", "WINDROW_HOST": "::1", "WINDROW_TOKEN": TOKEN}
    found = settings_of(tmp_path, FILE, environment, host="127.0.0.2", memory=None)
    # Paths of a file are meant from where it is.
    assert (found.script, found.state) == (tmp_path / "job.wql", tmp_path / "state")
    assert (found.port, found.host, found.allow_hosts) == (9001, "127.0.0.2", ("windrow",))
    assert (found.stop_within_s, found.log_format, found.log_level) == (60.0, "json", "info")
    assert found.token == TOKEN
    assert TOKEN not in repr(found)


def test_without_a_file(tmp_path: Path) -> None:
    environment = {
        "WINDROW_ALLOW_HOSTS": "a, b",
        "WINDROW_ALLOW_REMOTE": "TRUE",
        "WINDROW_STOP_WITHIN": "1.5 minutes",
        "WINDROW_READ_ONLY": "0",
    }
    found = settings_of(tmp_path, None, environment, script=Path("x.wql"))
    assert found.script == Path("x.wql")
    assert (found.allow_hosts, found.allow_remote, found.read_only) == (("a", "b"), True, False)
    assert (found.stop_within_s, found.token) == (90.0, None)


def test_a_file_may_name_that_of_the_token(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(TOKEN + "\n")
    text = 'script = "job.wql"\ntoken_file = "secret"'
    assert settings_of(tmp_path, text).token == TOKEN
    # One that was given in the environment is meant first.
    other = {"WINDROW_TOKEN": TOKEN.upper()}
    assert settings_of(tmp_path, text, other).token == TOKEN.upper()


WRONG = [
    ("WB610", 'state = "x"', {}, "no script"),
    ("WB611", "script = ", {}, "cannot be read"),
    ("WB612", f'token = "{TOKEN}"', {}, "holds the token"),
    ("WB613", 'scirpt = "x"', {}, "did you mean script"),
    ("WB614", 'script = "x"\ntoken_file = "none"', {}, "the token cannot be read"),
    ("WB615", 'script = "x"', {"WINDROW_TOKEN": "short"}, "shorter than 16"),
    ("WB616", 'script = "x"\nport = 1.5', {}, "port in"),
    ("WB616", 'script = "x"', {"WINDROW_PORT": "70000"}, "port in WINDROW_PORT is '70000'"),
    ("WB616", 'script = "x"\nread_only = "maybe"', {}, "read_only"),
    ("WB616", 'script = "x"\nlog_level = "loud"', {}, "use debug, info"),
    ("WB616", "script = 7", {}, "script"),
    ("WB616", 'script = "x"\nstop_within = []', {}, "stop_within"),
    ("WB616", 'script = "x"\nstop_within = -1', {}, "stop_within"),
    ("WB616", 'script = "x"\nallow_hosts = 3', {}, "allow_hosts"),
]


@pytest.mark.parametrize(("code", "text", "environment", "words"), WRONG)
def test_what_cannot_be_is_named(
    tmp_path: Path, code: str, text: str, environment: dict[str, str], words: str
) -> None:
    with pytest.raises(BindingError) as raised:
        settings_of(tmp_path, text, environment)
    assert raised.value.code == code
    assert words in str(raised.value)
    assert TOKEN not in str(raised.value)
    assert "short\n" not in str(raised.value)
