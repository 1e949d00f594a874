"""What compiled code was made from: the sources of a module and of all that it has within."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from functools import cache

__all__ = ["source_stamp"]

_IMPORT = re.compile(r"^from ([\w.]+) import", re.M)
# No kernel has these within.
_COMPILING = __name__.rpartition(".")[0]


@cache
def source_stamp(module: str) -> str:
    """Changes with a module and with all that it takes from other modules of the package.

    A kernel has the constants and the functions that it imports compiled into it.
    """
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        sources[name] = _source(name)
        if name.endswith(("_kernels", ".kernels")):
            waiting += _imported_modules(name, sources[name])
    content = "\0".join(sources[name] for name in sorted(sources))
    return hashlib.sha256(content.encode()).hexdigest()


@cache
def _source(module: str) -> str:
    """By its loader, as a module may be in an archive."""
    found = importlib.util.find_spec(module)
    assert found is not None
    return found.loader.get_source(module)  # type: ignore[union-attr, no-any-return]


def _imported_modules(module: str, source: str) -> list[str]:
    """Modules of the same package that it imports, but for those that compile it."""
    package = module.partition(".")[0]
    names = _IMPORT.findall(source)
    return [
        name
        for name in names
        if name.split(".")[0] == package and not name.startswith(f"{_COMPILING}.")
    ]
