"""Scripts of other systems, read as scripts of WQL: see translate()."""

from windrow.dialects.translation import DIALECTS, Note, Translation
from windrow.dialects.script import translate

__all__ = ["DIALECTS", "Note", "Translation", "translate"]
