"""What tests look at in an error of binding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from windrow.errors import WindrowError


def failure(bind: Callable[[], object]) -> WindrowError:
    """The error that binding ends in."""
    with pytest.raises(WindrowError) as caught:
        bind()
    return caught.value


def word_at(error: WindrowError) -> str:
    """The word that the error points at."""
    assert error.place is not None, error
    line = error.place.text.split("\n")[error.place.line - 1]
    return line[error.place.column - 1 :][: error.place.length]
