"""Signals while a job runs are noted once, and raised at its end."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from windrow.interruption import Interruption, is_ending

STEPS: list[list[bool]] = []


def job(*signals: signal.Signals, error: Exception | None = None) -> list[bool]:
    """Signals that come to a job one after the other; what it knows after each."""
    steps: list[bool] = []
    STEPS.append(steps)
    with Interruption() as interruption:
        for number in signals:
            os.kill(os.getpid(), number)
            steps.append(interruption.came)
        if error is not None:
            raise error
    return steps


def test_ctrl_c_is_raised_at_the_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        job(signal.SIGINT)
    assert STEPS[-1] == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_is_raised_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        job(signal.SIGINT, signal.SIGINT)
    assert STEPS[-1] == [True]


def test_sigterm_ends_the_program_as_shells_expect() -> None:
    with pytest.raises(SystemExit) as ended:
        job(signal.SIGTERM)
    assert ended.value.code == 143


def test_an_error_of_the_job_is_not_covered_up() -> None:
    with pytest.raises(ValueError, match="its own"):
        job(signal.SIGTERM, error=ValueError("its own"))


def test_other_threads_leave_signals_alone() -> None:
    before, found = signal.getsignal(signal.SIGTERM), []

    def run() -> None:
        with Interruption() as interruption:
            found.append((signal.getsignal(signal.SIGTERM), interruption.came))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [(before, False)]


def test_whoever_draws_can_say_that_the_end_is_near() -> None:
    assert not is_ending()
    seen: list[bool] = []

    def interrupted() -> None:
        with Interruption():
            os.kill(os.getpid(), signal.SIGINT)
            seen.append(is_ending())

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (seen, is_ending()) == ([True], False)
    with pytest.raises(ValueError, match="its own"):
        job(signal.SIGINT, error=ValueError("its own"))
    assert not is_ending()
