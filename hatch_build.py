"""The README as a package index shows it: away from the repository, where no relative link leads.

Links are made absolute with the address in pyproject.toml. Until there is an address they are shown
as the words that they stand on: a link to nowhere is worse than none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# An optional "!" makes a link a picture; addresses of other places and of this page are let be.
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


class PublishedReadme(MetadataHookInterface):
    """Sets readme and urls, from README.md and the address in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling with the project's table, before it writes the metadata."""
        address = self.config["address"].rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = published_readme(text, address, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
        metadata["urls"] = project_urls(address)


def published_readme(text: str, address: str, version: str) -> str:
    """The README with links to the files of this version; with no address, without those links."""

    def shown(link: re.Match[str]) -> str:
        sign, words, target = link.groups()
        if not address:
            return "" if sign else words
        return f"{sign}[{words}]({address}/{'raw' if sign else 'blob'}/v{version}/{target})"

    return _LINK.sub(shown, text)


def project_urls(address: str) -> dict[str, str]:
    """Where to look for what, for the side of the index's page."""
    if not address:
        return {}
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/main/docs/README.md",
        "Changes": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
