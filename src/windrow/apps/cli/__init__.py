"""The command line; a command's own modules are loaded when it is called."""

from windrow.apps.cli.program import app, main

__all__ = ["app", "main"]
