"""Jars that Spark is started with; no session is."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.errors import BindingError
from windrow.spark.processes.jar_files import jar_files, package_names


def test_a_folder_stands_for_its_jars(tmp_path: Path) -> None:
    for name in ("b.jar", "a.jar", "notes.txt"):
        (tmp_path / name).touch()
    jars = [str(tmp_path / name) for name in ("a.jar", "b.jar")]
    assert jar_files([tmp_path]) == jars
    assert jar_files([jars[1], "hdfs://host/c.jar"]) == [jars[1], "hdfs://host/c.jar"]


@pytest.mark.parametrize("name", ["missing.jar", "empty"])
def test_a_jar_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BindingError, match="WB494"):
        jar_files([str(tmp_path / name)])


def test_packages_are_named_by_coordinates() -> None:
    name = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0"
    assert package_names([name]) == [name]
    for wrong in ("kafka", "org.apache.spark:kafka", f"{name} --evil", ""):
        with pytest.raises(BindingError, match="WB495"):
            package_names([wrong])
