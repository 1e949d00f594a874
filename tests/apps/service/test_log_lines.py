"""The log of a service: lines for people or machines, without secrets."""

from __future__ import annotations

import io
import json
import logging
import warnings

from windrow.apps.service.log_lines import logging_to

LOGGER = logging.getLogger("windrow.tests.service")


def test_lines_of_json() -> None:
    written = io.StringIO()
    with logging_to("info", "json", ("hunter2",), written):
        LOGGER.debug("not at this level")
        LOGGER.warning("stream %s: %s", "temp", "hunter2\nwas wrong", extra={"rows": 3})
        try:
            raise ValueError("hunter2")
        except ValueError:
            LOGGER.exception("failed")
    first, second = (json.loads(line) for line in written.getvalue().splitlines())
    assert first.pop("at").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": LOGGER.name,
        "message": "stream temp: ***\nwas wrong",
        "rows": 3,
    }
    assert "ValueError: ***" in second["trace"]
    assert "hunter2" not in written.getvalue()


def test_lines_of_text() -> None:
    written = io.StringIO()
    with logging_to("debug", "text", (), written):
        LOGGER.debug("one\ntwo", extra={"stream": "temp"})
    (line,) = written.getvalue().splitlines()
    assert line.endswith(f"Z debug   {LOGGER.name}: one / two stream=temp")


def test_warnings_are_entries_too_and_all_is_as_before_afterwards() -> None:
    root = logging.getLogger()
    before = (root.level, root.handlers[:], warnings.showwarning)
    written = io.StringIO()
    with logging_to("warning", "text", (), written), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("late rows", UserWarning, stacklevel=1)
    assert "late rows" in written.getvalue()
    assert (root.level, root.handlers[:], warnings.showwarning) == before
