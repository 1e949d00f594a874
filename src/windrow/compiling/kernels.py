"""How kernels are compiled: where their code is cached, and who is notified that it takes time.

Numba caches compiled code next to the source or in the user's home, fails on import where it can
write to neither, fails in the middle of a query where the disk is full or a file is damaged, and
uses code that was compiled with an older version of a function that it calls, if that is in another
file. None of this may happen to a query: what cannot be read is compiled, what cannot be written is
compiled at the next start again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

import numba
from numba.core import caching, event, types

from windrow.compiling.notice import COMPILING, COMPILING_AGAIN, CompileWatch, say_compiling
from windrow.compiling.places import kept_in, places_of

_LOG = logging.getLogger(__name__)
_IMPORT = re.compile(r"^from ([\w.]+) import", re.M)


def njit(*, cache, **options):
    """Numba's njit, but for where compiled code is kept."""

    def compiled(function):
        dispatcher = numba.njit(**options)(function)
        if cache and not numba.config.DISABLE_JIT:
            dispatcher._cache = KeptCode(function)
        return dispatcher

    return compiled


def inlined(function):
    """A part of kernels, called inside their loops and compiled into them; it makes no arrays.

    Numba counts references to every array that a function is called with or takes out of a
    structure, which inside a loop costs many times the work of a line. This counts none: whoever
    calls has hold of the arrays.
    """
    return njit(cache=True, forceinline=True, _nrt=False)(function)


class KeptCode:
    """The compiled code of one function on disk, as Numba asks for it."""

    def __init__(self, function):
        folder = Path(function.__code__.co_filename).parent
        places = places_of(folder, numba.config.CACHE_DIR)
        self._kept = [(place, _numba_cache(function, place)) for place in places]
        self.cache_path = next((str(place.folder) for place in places if place.is_writable), None)

    def load_overload(self, signature, context):
        """What was compiled for these types before; None where it has to be compiled."""
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


def _numba_cache(function, place):
    """Numba's own reader and writer of compiled code, for one place."""

    class Locator(caching._CacheLocator):
        @classmethod
        def from_function(cls, _function, _file):
            return cls()

        def get_cache_path(self):
            return str(place.folder)

        def ensure_cache_path(self):
            if not place.is_trusted:
                raise PermissionError(f"{place.guarded} is no longer private to this user")
            super().ensure_cache_path()

        def get_source_stamp(self):
            return source_stamp(function.__module__)

        def get_disambiguator(self):
            return str(function.__code__.co_firstlineno)

    class Reading(caching.CompileResultCacheImpl):
        _locator_classes = (Locator,)

    class Kept(caching.FunctionCache):
        _impl_class = Reading

        def _index_key(self, sig, codegen):
            return (*super()._index_key(sig, codegen), _structure_fields(sig))

    return Kept(function)


def _structure_fields(signature):
    """The fields of structures among the arguments: Numba distinguishes these by class only.

    Code that was compiled for other fields of the same types would read one array for another.
    """
    kinds = getattr(signature, "args", signature)
    return tuple(kind.fields for kind in kinds if isinstance(kind, types.BaseNamedTuple))


@cache
def source_stamp(module):
    """Changes with a module and with all that it takes from other modules of the package.

    A kernel has the constants and the functions that it imports compiled into it.
    """
    sources, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        # By its loader, as a module may be in an archive.
        sources[name] = importlib.util.find_spec(name).loader.get_source(name)
        if name.endswith(("_kernels", ".kernels")):
            waiting += _imported_modules(name, sources[name])
    content = "\0".join(sources[name] for name in sorted(sources))
    return hashlib.sha256(content.encode()).hexdigest()


def _imported_modules(module, source):
    """Modules of the same package that it imports, but for this one: no kernel has it within."""
    package = module.partition(".")[0]
    names = _IMPORT.findall(source)
    return [name for name in names if name.split(".")[0] == package and name != __name__]


class _Watching(event.Listener):
    """Numba reports every function that it compiles, but not those that it loads."""

    def __init__(self):
        self._watch = CompileWatch(_say)

    def on_start(self, _event):
        self._watch.begin()

    def on_end(self, _event):
        self._watch.end()


def _say():
    is_kept = kept_in(numba.config.CACHE_DIR) is not None
    say_compiling(COMPILING if is_kept else COMPILING_AGAIN)


event.register("numba:compile", _Watching())
