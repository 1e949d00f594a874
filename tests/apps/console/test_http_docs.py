"""The commands of docs/reference/http-api.md, run as they stand against a real console."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from support.small_registry import temp_rows
from windrow.apps.console.openapi.operations import operations
from windrow.apps.console.server import ConsoleServer

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "http-api.md"
SHELL_BLOCK = re.compile(r"```sh\n(.*?)```", re.S)


def shell_lines(first_word: str) -> list[str]:
    text = "".join(SHELL_BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    return [line for line in text.split("\n") if line.startswith(first_word)]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_every_curl_command_works(server: ConsoleServer, tmp_path: Path) -> None:
    place = {"CONSOLE": server.url.rstrip("/"), "TOKEN": server.secrets.token}
    answers = []
    # The first one names an address and a token; here they are those of a real console.
    exports = "\n".join(shell_lines("export ")[1:])
    for number, command in enumerate(shell_lines("curl ")):
        done = subprocess.run(
            ["sh", "-c", f"{exports}\n{command} --fail-with-body --noproxy '*'"],
            cwd=tmp_path,
            env={**os.environ, **place},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        answers.append(done.stdout)
        if "-d " in command and number < 4:
            server._registry.runner.session.push("temp", temp_rows(300, 60))
            server._registry.collect()
    assert len(answers) == 9
    assert json.loads(answers[2])["name"] == "mine"
    assert len(json.loads(answers[4])["rows"]) == 3
    assert pa.ipc.open_stream(tmp_path / "answers.arrows").read_all().num_rows >= 3
    assert json.loads(answers[6])["error"]["column"] == 27
    assert json.loads(answers[7])["state"] == "ended"
    assert "windrow_memory_bytes" in answers[8]


def test_every_path_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path in operations():
        if path.startswith(("/api", "/metrics")):
            last = path.rpartition("/")[2]
            assert path in page or f"/{last}`" in page, path
