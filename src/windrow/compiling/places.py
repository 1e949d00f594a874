"""Where the compiled code of kernels is kept, so that it is compiled once and not at every start.

1. NUMBA_CACHE_DIR, where it is set; no other then.
2. Beside the package's files, where they can be written to.
3. Where they cannot: what is there is read all the same, as an image of a container may have been
   built with it; new code goes to the user's cache, or without one to the temporary directory.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from windrow.private_folder import cache_folder, is_private

__all__ = ["Place", "kept_in", "places_of"]


@dataclass(frozen=True)
class Place:
    """A folder with compiled code. guarded: what must be private for it to be believed."""

    folder: Path
    is_writable: bool
    guarded: Path | None = None

    @property
    def is_trusted(self) -> bool:
        """Whether code may be loaded from it: others can make folders in a temporary directory."""
        return self.guarded is None or is_private(self.guarded)


@cache
def places_of(folder: Path, given: str = "") -> tuple[Place, ...]:
    """The places for the code of files in a folder. given: NUMBA_CACHE_DIR, where it is set."""
    if given:
        named = Path(given) / _name_for(folder)
        return (Place(named, _can_be_written(named)),)
    beside = folder / "__pycache__"
    if _can_be_written(beside):
        return (Place(beside, is_writable=True),)
    packaged = Place(beside, is_writable=False)
    try:
        own = cache_folder()
    except OSError:
        return (packaged,)
    return (packaged, Place(own / "compiled" / _name_for(folder), True, guarded=own))


def kept_in(given: str = "") -> Path | None:
    """The folder where new code is cached; None: every start compiles again."""
    here = Path(__file__).parent
    place = next((each for each in places_of(here, given) if each.is_writable), None)
    if place is None:
        return None
    return Path(given) if given else place.guarded or here.parent


def _name_for(folder: Path) -> str:
    """One name for one folder: environments of one user must not share compiled code."""
    hashed = hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
    return f"{folder.name}-{hashed}"


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
