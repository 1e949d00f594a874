"""What Numba makes of kernels: where their code is cached, and who is notified of compiling.

Numba caches compiled code next to the source or in the user's home, fails on import where it can
write to neither, fails in the middle of a query where the disk is full or a file is damaged, and
uses code that was compiled with an older version of a function that it calls, if that is in another
file. None of this may happen to a query: what cannot be read is compiled, what cannot be written is
compiled at the next start again.
"""

from __future__ import annotations

import gc
import logging
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numba
from llvmlite import ir
from numba.core import caching, cgutils, entrypoints, event, types
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic as numba_intrinsic

from windrow.compiling.notice import COMPILING, COMPILING_AGAIN, CompileWatch, say_compiling
from windrow.compiling.one_compiles import OneCompiles
from windrow.compiling.places import kept_in, places_of
from windrow.compiling.source_stamp import source_stamp

_LOG = logging.getLogger(__name__)
# What intrinsics are written with.
_PARTS = SimpleNamespace(types=types, cgutils=cgutils, ir=ir)


def compiled(function, *, cache, **options):
    """A dispatcher of Numba, which keeps its code; the function itself where nothing compiles."""
    if numba.config.DISABLE_JIT:
        return function
    # Nobody calls a kernel from C: code for that is not made.
    dispatcher = numba.njit(no_cfunc_wrapper=True, **options)(function)
    found = dispatcher.get_call_template

    def of_any_value(arguments, named):
        # A kernel that calls it with a constant needs no code for that value alone.
        named = {name: types.unliteral(kind) for name, kind in named.items()}
        return found(tuple(types.unliteral(kind) for kind in arguments), named)

    dispatcher.get_call_template = of_any_value
    if cache:
        dispatcher._cache = KeptCode(function)
        # Extensions of Numba are searched for where something is compiled: it takes its time.
        dispatcher._compilation_chain_init_hook = _nothing
    return dispatcher


def intrinsic(function):
    """An intrinsic of Numba, whose function is given the parts that it is written with."""
    if numba.config.DISABLE_JIT:
        return _nothing

    def described(typing_context, array, index):
        del typing_context
        return function(_PARTS, array, index)

    made = numba_intrinsic(described)
    # A kernel that calls it may be in the middle of being compiled.
    cpu_target.typing_context.refresh()
    return made


def type_of(made):
    """The type by which kernels know another one, or an intrinsic."""
    return cpu_target.typing_context.resolve_value_type(made)


def _nothing(*_arguments):
    """Without compiled code there is nothing to fetch ahead."""


class KeptCode:
    """The compiled code of one function on disk, as Numba asks for it."""

    def __init__(self, function):
        folder = Path(function.__code__.co_filename).parent
        places = places_of(folder, numba.config.CACHE_DIR)
        self._kept = [(place, _Kept(function, place)) for place in places]
        self.cache_path = next((str(place.folder) for place in places if place.is_writable), None)
        into = next((each for each in places if each.is_writable and each.is_trusted), None)
        name = f"{function.__name__}-{function.__code__.co_firstlineno}.lock"
        self._lock = OneCompiles(None if into is None else into.folder / name)

    def load_overload(self, signature, context):
        """What was compiled for these types before; None where it has to be compiled."""
        found = self._loaded(signature, context)
        if found is None and self._lock.wait():
            found = self._loaded(signature, context)  # another process may have compiled it by now
            if found is not None:
                self._lock.leave()
        if found is None:
            entrypoints.init_all()
        return found

    def _loaded(self, signature, context):
        for place, kept in self._kept:
            try:
                found = kept.load_overload(signature, context) if place.is_trusted else None
            except Exception as problem:
                # Damaged, or of another user: Numba unpickles it, which can raise anything.
                _LOG.info("compiled code in %s cannot be read: %r", place.folder, problem)
                self._drop(place, kept)
                continue
            if found is not None:
                return found
        return None

    def save_overload(self, signature, compiled):
        """Keeps it in the first place that takes it; the next start compiles what none takes."""
        try:
            self._save(signature, compiled)
        finally:
            self._lock.leave()

    def _save(self, signature, compiled):
        for place, kept in self._kept:
            if not place.is_writable:
                continue
            try:
                return kept.save_overload(signature, compiled)
            except OSError as problem:
                _LOG.info("compiled code cannot be cached in %s: %s", place.folder, problem)

    def _drop(self, place, kept):
        """Nothing can be added to an index that is damaged."""
        if place.is_writable:
            with suppress(OSError):
                kept.flush()

    def enable(self):
        """It is always enabled."""

    def disable(self):
        """It is always enabled."""

    def flush(self):
        """Forgets what was compiled."""
        for place, kept in self._kept:
            self._drop(place, kept)


class _Kept(caching.FunctionCache):
    """Numba's own reader and writer of compiled code, for one place."""

    def __init__(self, function, place):
        self._place = place
        super().__init__(function)

    def _impl_class(self, function):
        """Numba makes one of these for itself, of the function alone."""
        return _Files(function, self._place)

    def load_overload(self, signature, context):
        """What is loaded needs Numba's runtime; all that Numba knows to compile, it does not."""
        rtsys.initialize(context)
        return self._load_overload(signature, context)

    def _index_key(self, signature, codegen):
        return (*super()._index_key(signature, codegen), _structure_fields(signature))


class _Files(caching.CompileResultCacheImpl):
    """Where the files of a function are, and what they are called."""

    def __init__(self, function, place):
        self._locator_classes = (_Locators(place),)
        super().__init__(function)


class _Locators:
    """Stands for a class of locators, which Numba makes one of for each function."""

    def __init__(self, place):
        self._place = place

    def from_function(self, function, _file):
        """The locator of a function."""
        return _Locator(function, self._place)


class _Locator(caching._CacheLocator):
    def __init__(self, function, place):
        self._function, self._place = function, place

    @classmethod
    def from_function(cls, _function, _file):
        raise AssertionError("_Locators makes them: Numba asks that class, not this one")

    def get_cache_path(self):
        return str(self._place.folder)

    def ensure_cache_path(self):
        if not self._place.is_trusted:
            raise PermissionError(f"{self._place.guarded} is no longer private to this user")
        super().ensure_cache_path()

    def get_source_stamp(self):
        return source_stamp(self._function.__module__)

    def get_disambiguator(self):
        return str(self._function.__code__.co_firstlineno)


def _structure_fields(signature):
    """The fields of structures among the arguments: Numba distinguishes these by class only.

    Code that was compiled for other fields of the same types would read one array for another.
    """
    kinds = getattr(signature, "args", signature)
    return tuple(kind.fields for kind in kinds if isinstance(kind, types.BaseNamedTuple))


class _Watching(event.Listener):
    """Numba reports every function that it compiles, but not those that it loads.

    Meanwhile no garbage is looked for: most of what Numba makes is in use until it is done, and
    searching it takes a tenth of the time. One thread at a time compiles.
    """

    def __init__(self):
        self._watch = CompileWatch(_say)
        self._looks_for_garbage = []

    def on_start(self, _event):
        self._looks_for_garbage.append(gc.isenabled())
        gc.disable()
        self._watch.begin()

    def on_end(self, _event):
        self._watch.end()
        if self._looks_for_garbage.pop():
            gc.enable()


def _say():
    is_kept = kept_in(numba.config.CACHE_DIR) is not None
    say_compiling(COMPILING if is_kept else COMPILING_AGAIN)


event.register("numba:compile", _Watching())
