"""The version of Windrow, for all rooms."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
