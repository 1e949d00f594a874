"""Ctrl-C waits for the end of a block, and comes then."""

from __future__ import annotations

import signal
import threading

import pytest

from windrow.embedded.delayed_interrupts import delayed_interrupts


def test_an_interrupt_waits_and_comes() -> None:
    passed, handler = [], signal.getsignal(signal.SIGINT)

    def block() -> None:
        with delayed_interrupts():
            signal.raise_signal(signal.SIGINT)
            passed.append("the signal")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert passed
    assert signal.getsignal(signal.SIGINT) is handler


def test_other_threads_are_left_as_they_are() -> None:
    ran = []

    def block() -> None:
        with delayed_interrupts():
            ran.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert ran == [signal.getsignal(signal.SIGINT)]
