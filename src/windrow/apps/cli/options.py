"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AsJson", "Embedded", "Jars", "SparkUi"]

AsJson = Annotated[
    bool,
    typer.Option("--json", help="One JSON object per line on stdout; everything else on stderr."),
]
Embedded = Annotated[
    bool, typer.Option("--embedded", help="In this process, without Spark and without Java.")
]
Jars = Annotated[
    str,
    typer.Option(
        metavar="FILES",
        help="Jars for Spark, or folders of them, separated by commas, such as Kafka's connector.",
    ),
]
SparkUi = Annotated[
    bool, typer.Option("--spark-ui", help="Spark's own web page, on this machine's port 4040.")
]
