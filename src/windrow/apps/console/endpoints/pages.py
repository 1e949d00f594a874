"""The page of the console and what it loads: files of this package, no others."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from windrow.apps.console.answers import refused
from windrow.apps.console.refusals import no_such_path

__all__ = ["STATIC_FOLDER", "Files", "page"]

STATIC_FOLDER = Path(__file__).parents[1] / "static"
# A browser asks each time whether it is still so: a new version must not meet an old module.
_REVALIDATED = {"cache-control": "no-cache"}


class Files:
    """The files below static/, by their paths; links that lead out of it are not followed."""

    def __init__(self, folder: Path = STATIC_FOLDER) -> None:
        self._files = StaticFiles(directory=folder, check_dir=False, follow_symlink=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One file."""
        request = Request(scope)
        path = request.path_params["path"]
        found = await _file(self._files, path, scope) or refused(no_such_path(request.url.path))
        await found(scope, receive, send)


async def page(request: Request) -> Response:
    """The page itself."""
    files = StaticFiles(directory=STATIC_FOLDER, check_dir=False)
    found = await _file(files, "index.html", request.scope)
    return found or refused(no_such_path("/"))


async def _file(files: StaticFiles, path: str, scope: Scope) -> Response | None:
    try:
        full, stat = files.lookup_path(path)
    except (OSError, ValueError):  # a name longer than any file's, or that no file can have
        return None
    if stat is None or not Path(full).is_file():
        return None
    response = files.file_response(full, stat, scope)
    response.headers.update(_REVALIDATED)
    return response
