"""Who is told that something is being compiled, and when."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import pytest

from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.terminal.screen import Screen
from windrow.compiling.notice import LULL_S, PATIENCE_S, CompileWatch, say_compiling, telling


class Clock:
    """Time that passes when told to; alarms ring then."""

    def __init__(self) -> None:
        self.now = 100.0
        self.alarms: list[Alarm] = []
        self.told = 0

    def watch(self) -> CompileWatch:
        return CompileWatch(self._tell, lambda: self.now, self._alarm)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        for alarm in [each for each in self.alarms if each.at <= self.now]:
            self.alarms.remove(alarm)
            alarm.ring()

    def _tell(self) -> None:
        self.told += 1

    def _alarm(self, seconds: float, ring: Callable[[], None]) -> Alarm:
        return Alarm(self, self.now + seconds, ring)


class Alarm:
    daemon = False

    def __init__(self, clock: Clock, at: float, ring: Callable[[], None]) -> None:
        self.clock, self.at, self.ring = clock, at, ring

    def start(self) -> None:
        assert self.daemon, "a program must not wait for it"
        self.clock.alarms.append(self)

    def cancel(self) -> None:
        if self in self.clock.alarms:
            self.clock.alarms.remove(self)


def compile_for(clock: Clock, watch: CompileWatch, *seconds: float) -> None:
    for each in seconds:
        watch.begin()
        clock.passes(each)
        watch.end()


def test_a_short_compilation_is_not_told() -> None:
    clock = Clock()
    watch = clock.watch()
    compile_for(clock, watch, PATIENCE_S / 2)
    clock.passes(10)
    compile_for(clock, watch, PATIENCE_S / 2)
    assert (clock.told, clock.alarms) == (0, [])


def test_a_long_one_is_told_once_while_it_lasts() -> None:
    clock = Clock()
    watch = clock.watch()
    watch.begin()
    clock.passes(PATIENCE_S)
    assert clock.told == 1
    clock.passes(5)
    watch.end()
    compile_for(clock, watch, 3, 3)
    assert clock.told == 1


def test_many_short_ones_add_up() -> None:
    clock = Clock()
    compile_for(clock, clock.watch(), *[PATIENCE_S / 4] * 6)
    assert clock.told == 1


def test_the_next_form_is_told_of_again() -> None:
    clock = Clock()
    watch = clock.watch()
    compile_for(clock, watch, 3)
    clock.passes(LULL_S + 1)
    compile_for(clock, watch, 3)
    assert clock.told == 2


def test_functions_compiled_within_another_count_once() -> None:
    clock = Clock()
    watch = clock.watch()
    watch.begin()
    compile_for(clock, watch, PATIENCE_S / 4, PATIENCE_S / 4)
    watch.end()
    assert (clock.told, clock.alarms) == (0, [])


def test_a_command_says_it_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with failing_clearly(Screen(machine=True)):
        say_compiling("Compiling.")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "Compiling.\n")


def test_a_prompt_of_python_says_it_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    say_compiling("Compiling.")
    assert capsys.readouterr().err == "Compiling.\n"
    monkeypatch.setattr(sys, "stderr", None)
    say_compiling("Compiling.")


def test_a_program_finds_it_in_its_log_only(
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    with caplog.at_level(logging.INFO, logger="windrow"):
        say_compiling("Compiling.")
    assert capsys.readouterr().err == ""
    assert caplog.messages == ["Compiling."]


def test_whoever_listens_last_is_told() -> None:
    first: list[str] = []
    second: list[str] = []
    with telling(first.append):
        with telling(second.append):
            say_compiling("a")
        say_compiling("b")
    assert (first, second) == (["b"], ["a"])
