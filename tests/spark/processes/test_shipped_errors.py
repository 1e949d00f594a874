from __future__ import annotations

import pytest

from windrow.errors import CheckpointError
from windrow.spark.processes.shipped_errors import ShippedError, received_error, shipping_errors


def test_an_error_survives_as_text() -> None:
    with pytest.raises(ShippedError) as caught, shipping_errors():
        raise CheckpointError("WC999", 'segment "3" lost\nfor good', hint="a copy")
    received = received_error(f"Job aborted\nTraceback ...\n{caught.value}\n  at org.apache...")
    assert isinstance(received, CheckpointError)
    assert (received.code, received.hint) == ("WC999", "a copy")
    assert received.message == 'segment "3" lost\nfor good'


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), shipping_errors():
        raise ZeroDivisionError
    assert received_error("java.lang.NullPointerException") is None
