"""What Spark would not miss in its part of a checkpoint is missed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from windrow.errors import CheckpointError
from windrow.spark.checkpoint.spark_part import (
    check_spark_part,
    checkpoint_trouble,
    last_offsets,
    takes_frames,
)
from windrow.spark.driver.failures import failure_of
from windrow.storage import Storage


def spark_part(folder: Path, batches: int) -> Storage:
    for name in ("offsets", "sources/0", "sources/1"):
        (folder / name).mkdir(parents=True)
    for batch in range(batches):
        lines = ["v1", "{}", f'{{"logOffset":{batch}}}', "-"]
        (folder / "offsets" / str(batch)).write_text("\n".join(lines))
        suffix = ".compact" if batch % 3 == 2 else ""
        (folder / "sources" / "0" / f"{batch}{suffix}").write_text("v1\n")
    return Storage(folder)


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_whole_one_is_taken(tmp_path: Path, batches: int) -> None:
    spark = spark_part(tmp_path, batches)
    assert last_offsets(spark) == batches - 1
    check_spark_part(spark, batches - 1)
    check_spark_part(spark, batches - 2)


def test_one_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    spark = Storage(tmp_path / "spark", make=False)
    check_spark_part(spark, -1)
    assert not (tmp_path / "spark").exists()


@pytest.mark.parametrize("called", ["transformWithStateInPandasExec", "other", None])
def test_an_operator_of_frames_is_known(tmp_path: Path, called: str | None) -> None:
    """Of a checkpoint with several operators the first one tells for all."""
    told = tmp_path / "state" / "0" / "_metadata" / "v2"
    if called is not None:
        told.mkdir(parents=True)
        (told / "0").write_text(f'v2\n{{"operatorInfo":{{"operatorName":"{called}"}}}}')
    assert takes_frames(Storage(tmp_path, make=False)) == (called is not None and called[0] == "t")


def test_lost_offsets_are_missed(tmp_path: Path) -> None:
    spark = spark_part(tmp_path, 3)
    (tmp_path / "offsets" / "2").unlink()
    with pytest.raises(CheckpointError, match=r"WC222.*batch 2 was answered.*batch 1"):
        check_spark_part(spark, 2)


@pytest.mark.parametrize(("batches", "lost"), [(2, "1"), (3, "2.compact")])
def test_a_lost_log_of_a_source_is_missed(tmp_path: Path, batches: int, lost: str) -> None:
    spark = spark_part(tmp_path, batches)
    (tmp_path / "sources" / "0" / lost).unlink()
    with pytest.raises(CheckpointError, match=r"WC222.*lacks log"):
        check_spark_part(spark, batches - 1)


@pytest.mark.parametrize(
    "text",
    [
        "org.apache.hadoop.fs.ChecksumException: Checksum error: file:/q/spark/offsets/4",
        "[CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE] An error occurred during loading state.",
        "Checksum file not a length multiple of checksum size in file:/q/spark/offsets/5 at 0",
        "No usable value for path",
        "An error occurred while calling o1.start.\n: java.util.zip.ZipException: bad\n\tat x",
        "[STREAMING_CHECKPOINT_MISSING_METADATA_FILE] Checkpoint location is inconsistent",
    ],
)
def test_trouble_with_the_checkpoint_is_told_apart(text: str) -> None:
    found = failure_of("query 'q'", PySparkException(text))
    assert isinstance(found, CheckpointError)
    assert found.code == "WC223"


def test_other_trouble_is_no_trouble_with_the_checkpoint() -> None:
    text = "[STREAM_FAILED] KeyError: 'a'\n=== Streaming Query ===\n[CHECKPOINT]"
    assert failure_of("query 'q'", PySparkException(text)).code == "WX401"


def test_a_machine_that_is_too_busy_is_named() -> None:
    found = failure_of("query 'q'", PySparkException("Python worker failed to connect back."))
    assert "too busy" in found.hint


def test_a_lost_log_of_a_source_is_trouble_with_the_checkpoint() -> None:
    said = "made/spark/sources/0/3 doesn't exist (latestId: 5, compactInterval: 10)"
    found = checkpoint_trouble("query 'q'", said, f"java.io.FileNotFoundException: {said}")
    assert found is not None
    assert (found.code, said in found.message) == ("WC223", True)


def test_a_file_of_the_user_that_is_gone_is_not() -> None:
    said = "File file:/data/temp/0001.parquet does not exist"
    assert checkpoint_trouble("query 'q'", said, f"java.io.FileNotFoundException: {said}") is None
