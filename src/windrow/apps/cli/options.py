"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.dialects import DIALECTS

__all__ = [
    "AsJson",
    "Embedded",
    "FromDialect",
    "FunctionsFrom",
    "Jars",
    "Packages",
    "SparkUi",
    "listed",
]

AsJson = Annotated[
    bool,
    typer.Option("--json", help="One JSON object per line on stdout; everything else on stderr."),
]
FromDialect = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="DIALECT",
        help=f"The script is of another system: {', '.join(DIALECTS)}.",
    ),
]
FunctionsFrom = Annotated[
    list[str] | None,
    typer.Option(
        "--functions-from",
        metavar="MODULE",
        help="A module or file of Python whose functions the script may name in CREATE FUNCTION; "
        "may be repeated. Without it a script can name none.",
    ),
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
Packages = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Maven coordinates that Spark fetches, separated by commas, such as "
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0.",
    ),
]
SparkUi = Annotated[
    bool, typer.Option("--spark-ui", help="Spark's own web page, on this machine's port 4040.")
]


def listed(text: str) -> tuple[str, ...]:
    """The parts of an option that has several, with commas between."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
