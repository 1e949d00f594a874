"""Kernels: functions that Numba compiles at their first call, and not before.

Numba takes a third of a second to load, and each kernel some milliseconds to set up: a program
that imports Windrow, or a query that needs ten kernels out of hundreds, pays for what it calls.
"""

from __future__ import annotations

import threading
from functools import partial, update_wrapper

from windrow.deferred import imported

_LOCK = threading.RLock()


def njit(*, cache, **options):
    """Numba's njit, but for when it is loaded and where compiled code is kept."""

    def kernel(function):
        return Kernel(function, "compiled", {**options, "cache": cache})

    return kernel


def inlined(function):
    """A part of kernels, called inside their loops and compiled into them; it makes no arrays.

    Numba counts references to every array that a function is called with or takes out of a
    structure, which inside a loop costs many times the work of a line. This counts none: whoever
    calls has hold of the arrays.
    """
    return njit(cache=True, forceinline=True, _nrt=False)(function)


def intrinsic(function):
    """Numba's intrinsic; the function is given Numba's parts instead of a typing context."""
    return Kernel(function, "intrinsic", {})


class Kernel(partial):  # type: ignore[type-arg]
    """Calls what Numba makes of a function, which is made when it is first asked for.

    A partial, as that calls on without a frame of Python.
    """

    def __new__(cls, function, making, options):
        """A kernel that nothing has been made of."""
        kernel = super().__new__(cls, function)
        update_wrapper(kernel, function)
        kernel._plain, kernel._making, kernel._options = function, making, options
        kernel._made = None
        kernel._calls(kernel._first_call)
        return kernel

    def _calls(self, callee):
        self.__setstate__((callee, (), {}, self.__dict__))

    def _first_call(self, *arguments):
        return self.made(*arguments)

    @property
    def made(self):
        """What Numba made of it: its dispatcher, or its intrinsic."""
        if self._made is None:
            with _LOCK:
                if self._made is None:
                    # Numba is loaded here, at the first kernel that is called.
                    making = getattr(imported(_COMPILER), self._making)
                    made = making(self._plain, **self._options)
                    self._calls(made)
                    self._made = made
        return self._made

    @property
    def _numba_type_(self):
        """As what another kernel calls it."""
        return imported(_COMPILER).type_of(self.made)

    @property
    def py_func(self):
        """The function as it is written."""
        return self._plain

    def __getattr__(self, name):
        """All else is asked of what Numba made: Numba itself does while it compiles callers."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.made, name)

    def __reduce__(self):
        return self._plain.__qualname__


_COMPILER = "windrow.compiling.kept_code"
