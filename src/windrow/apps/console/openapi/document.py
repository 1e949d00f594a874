"""The whole document."""

from __future__ import annotations

from typing import Any

from windrow.apps.console.openapi.operations import operations
from windrow.apps.console.openapi.schemas import SCHEMAS
from windrow.version import __version__

__all__ = ["document"]

_DESCRIPTION = (
    "Continuous queries of one session: list, add and stop them, read their results, answers and "
    "changes. Requests that change something must be application/json."
)


def document(cookie_name: str) -> dict[str, Any]:
    """OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Windrow console", "version": __version__, "description": _DESCRIPTION},
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": operations(),
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": cookie_name},
            },
        },
    }
