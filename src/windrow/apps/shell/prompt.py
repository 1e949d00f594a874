"""The prompt: several lines, colours, completion, history; each statement is run as it is ended."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import has_completions, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from windrow.apps.shell.checking import Checker
from windrow.apps.shell.completion import Completing
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.highlighting import STYLE, Highlighting
from windrow.apps.shell.lines import run_text
from windrow.apps.shell.splitting import is_complete, split
from windrow.errors import WindrowError
from windrow.event_time import START_OF_TIME, show_instant
from windrow.private_folder import home_folder
from windrow.version import __version__

__all__ = ["history_path", "prompt_session", "run_prompt", "welcome"]

PROMPT = "windrow> "
TOOLBAR_S = 0.5
HISTORY_VARIABLE = "WINDROW_HISTORY"


def welcome(desk: Desk, *, is_empty: bool) -> None:
    """The first lines of a shell."""
    line = f"Windrow {__version__}, in this process. \\help for help, \\q to leave."
    desk.screen.line(line, "dim")
    if is_empty:
        desk.screen.line(
            "Nothing is declared yet. \\demo simulates a building with fires to try things on;\n"
            "\\load job.wql runs a script; CREATE STREAM declares a stream.",
            "dim",
        )


def run_prompt(desk: Desk) -> None:
    """Asks for statements and runs them, until the shell is left."""
    session = prompt_session(desk)
    while not desk.is_left:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        _run(desk, text)


def _run(desk: Desk, text: str) -> None:
    """All that was typed at once; an error ends it, and the shell continues."""
    statements, rest = split(text)
    try:
        for each in [*statements, *filter(None, [rest])]:
            if not desk.is_left:
                run_text(desk, each)
    except WindrowError as error:
        desk.screen.error(error)
    except KeyboardInterrupt:
        desk.screen.note("Interrupted.")
    for problem in desk.bench.problems:
        desk.screen.error(problem)
    desk.bench.problems.clear()


def prompt_session(
    desk: Desk, typed: Input | None = None, shown: Output | None = None
) -> PromptSession[str]:
    """The prompt itself; typed and shown: other than this terminal, for tests."""
    checker = Checker(desk.bench)
    session: PromptSession[str] = PromptSession(
        [("class:prompt", PROMPT)],
        multiline=True,
        prompt_continuation=lambda width, *_: [("class:prompt", "> ".rjust(width))],
        completer=Completing(desk.bench),
        lexer=Highlighting(checker),
        style=STYLE,
        history=_history(),
        auto_suggest=AutoSuggestFromHistory(),
        key_bindings=_keys(),
        complete_while_typing=True,
        bottom_toolbar=lambda: _toolbar(desk, checker, session.default_buffer.text),
        refresh_interval=TOOLBAR_S,
        input=typed,
        output=shown,
    )
    return session


def _keys() -> KeyBindings:
    """Enter runs what is complete, and else begins a new line."""
    keys = KeyBindings()

    @keys.add("enter", filter=has_focus("DEFAULT_BUFFER"))
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state
        if chosen is not None and chosen.current_completion is not None:
            buffer.complete_state = None  # Enter takes the word that was chosen, no more
        elif not buffer.text.strip() or is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("escape", filter=has_completions)
    def _escape(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    return keys


def _toolbar(desk: Desk, checker: Checker, text: str) -> StyleAndTextTuples:
    """What is wrong with the text as far as it goes; else how the session stands."""
    error = checker.error(text)
    if error is not None:
        hint = f" {error.hint}" if error.hint else ""
        return [
            ("class:bottom-toolbar.wrong", f"{error.message};{hint}" if hint else error.message)
        ]
    if "\n" in text.strip():
        # Who has forgotten it may not know how to get out.
        return [("class:bottom-toolbar", "A semicolon ends the statement; Ctrl-C drops it.")]
    bench = desk.bench
    clocks = [each.running.clock for each in list(bench.outlets.values())]
    known = [clock for clock in clocks if clock > START_OF_TIME]
    streams = len(bench.job.streams)
    facts = [
        f"{streams} stream{'s' * (streams != 1)}",
        f"{len(clocks)} quer{'y' if len(clocks) == 1 else 'ies'}",
        f"{bench.rows:,} rows",
    ]
    facts += [show_instant(max(known))[:19]] if known else []
    facts += ["reading files"] if bench.is_reading else []
    return [("class:bottom-toolbar", "  ".join(facts))]


def _history() -> History:
    """What was typed before, in a file of its owner; without one, as long as the shell runs."""
    path = history_path()
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path)) if os.access(path, os.W_OK) else InMemoryHistory()


def history_path() -> Path | None:
    """Where what was typed is kept: WINDROW_HISTORY, or the user's folder for state.

    None for a user without a home: what was typed is nothing for a temporary directory.
    """
    given = os.environ.get(HISTORY_VARIABLE)
    if given:
        return Path(given)
    state, home = os.environ.get("XDG_STATE_HOME"), home_folder()
    if not state and home is None:
        return None
    folder = Path(state) if state else Path(home or "") / ".local" / "state"
    return folder / "windrow" / "history"
