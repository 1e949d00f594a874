"""Scripts of other systems, read as scripts of WQL: see translate()."""

from windrow.dialects.script import translate
from windrow.dialects.translation import DIALECTS, Note, Translation

__all__ = ["DIALECTS", "Note", "Translation", "translate"]
