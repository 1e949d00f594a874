"""Files by addresses of HTTP, and of buckets; here a bucket is a folder of this machine."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import windrow
from support.servers.s3_store import S3Store
from windrow.connectors.files import stored_rows, stores
from windrow.connectors.live import TransientError
from windrow.schema import StreamSchema, columns_of
from windrow.table_schema import TableSchema

SCHEMA = StreamSchema("s", columns_of("ts timestamp, k int"), "ts")
LINES = '{"ts": "2026-01-01T00:00:00Z", "k": 1}\n{"ts": "2026-01-01T00:00:01Z", "k": 2}\n'


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class _Odd(_Quiet):
    """A server that breaks off, one that speaks no HTTP, and one that answers GET only."""

    def do_HEAD(self) -> None:
        if "only-get" in self.path:
            self.send_error(405)
        else:
            self._begin()

    def do_GET(self) -> None:
        if "no-http" in self.path:
            self.wfile.write(b"what?\r\n\r\n")
            return
        self._begin()
        self.wfile.write((LINES if "only-get" in self.path else LINES.splitlines()[0]).encode())

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(LINES)))
        self.end_headers()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def odd_web() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Odd) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(stores, "store_at", lambda _: (root, ""))
    (tmp_path / "bucket" / "in").mkdir(parents=True)
    return tmp_path / "bucket" / "in"


def code_of(work: Callable[[], object]) -> str:
    with pytest.raises(windrow.WindrowError) as caught:
        work()
    return caught.value.code


def test_each_format_is_read_by_http(web: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "a.csv").write_text("ts,k\n2026-01-01 00:00:00,1\n2026-01-01 00:00:01,2\n")
    times = pa.array([0, 1_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(
        pa.table({"ts": times, "k": pa.array([1, 2], pa.int32())}), tmp_path / "a.parquet"
    )
    for name in ("jsonl", "csv", "parquet"):
        source = getattr(windrow.sources, name)(f"{web}/a.{name}")
        source.check(SCHEMA)
        keys = [key for rows, _ in source.read(SCHEMA) for key in rows.batch["k"].to_pylist()]
        assert keys == [1, 2]


def test_a_job_reads_an_address(web: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINES)
    session = windrow.connect(path=tmp_path / "state")
    source = windrow.sources.jsonl(f"{web}/a.jsonl")
    session.stream("s", "ts timestamp, k int", time="ts", source=source)
    total = session.query("SELECT SUM(k) AS k FROM s [1 MINUTE]", name="total")
    session.run()
    assert total.result().to_pylist() == [{"k": 3}]
    session.stop()


def test_what_is_wrong_is_named_by_its_address(web: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ts,other\n2026-01-01,1\n")
    address = f"{web}/a.csv"
    with pytest.raises(windrow.DataError, match=address) as caught:
        list(windrow.sources.csv(address).read(SCHEMA))
    assert caught.value.code == "WD505"
    assert code_of(lambda: windrow.sources.csv(f"{web}/b.csv").check(SCHEMA)) == "WD501"
    gone = windrow.sources.csv("http://127.0.0.1:1/a.csv")
    assert code_of(lambda: gone.check(SCHEMA)) == "WD508"
    with_secret = windrow.sources.csv("s3://who:secret@bucket/a.csv")
    with pytest.raises(windrow.BindingError) as refused:
        with_secret.check(SCHEMA)
    assert refused.value.code == "WB535"
    assert "secret" not in str(refused.value) + with_secret.shown
    assert code_of(lambda: windrow.sources.csv("hdfs://a/b.csv").check(SCHEMA)) == "WB534"
    live = windrow.sources.csv(address, follow=True)
    assert code_of(lambda: live.check(SCHEMA)) == "WB536"
    rooms = TableSchema("t", columns_of("k int"), "", key=("k",))
    table = windrow.sources.jsonl(f"{web}/a.jsonl", format="changelog")
    assert code_of(lambda: table.check(rooms)) == "WB537"


def test_an_answer_that_is_not_whole_is_refused(odd_web: str) -> None:
    broken = windrow.sources.jsonl(f"{odd_web}/broken.jsonl")
    with pytest.raises(windrow.DataError, match="bytes are missing at its end") as caught:
        list(broken.read(SCHEMA))
    assert caught.value.code == "WD508"
    wordless = windrow.sources.jsonl(f"{odd_web}/no-http.jsonl")
    with pytest.raises(windrow.DataError, match="BadStatusLine") as caught:
        list(wordless.read(SCHEMA))
    assert caught.value.code == "WD508"


def test_a_server_may_answer_get_only(odd_web: str) -> None:
    source = windrow.sources.jsonl(f"{odd_web}/only-get.jsonl")
    source.check(SCHEMA)
    assert sum(rows.num_rows for rows, _ in source.read(SCHEMA)) == 2


@pytest.mark.parametrize(
    "address",
    ["s3://who:sec/ret@bucket/a.csv", "s3://who:sec?ret@b/a.csv", "s3://who:sec#ret@b/a.csv"],
)
def test_no_sign_in_a_password_lets_it_be_shown(address: str) -> None:
    source = windrow.sources.csv(address)
    with pytest.raises(windrow.BindingError) as refused:
        source.check(SCHEMA)
    assert refused.value.code == "WB535"
    assert "sec" not in str(refused.value) + source.shown
    assert "ret" not in source.shown


@pytest.mark.parametrize("address", ["s3://[ab]/a.csv", "http://server:port/a.csv"])
def test_what_is_no_address_is_refused(address: str) -> None:
    assert code_of(lambda: windrow.sources.csv(address).check(SCHEMA)) == "WB538"


def test_addresses_with_ports_and_signs_are_not_refused() -> None:
    for address in ("http://h:80/a@b.csv", "http://h/a.csv?user=a@b", "s3://bucket/a:b@c.csv"):
        stores.store_of(windrow.sources.csv(address))
        assert windrow.sources.csv(address).shown == f"csv('{address.partition('?')[0]}')"


def test_a_file_that_is_replaced_while_it_is_fetched_is_read_once(
    bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_rows, "LOOK_EVERY_S", 0.0)
    (bucket / "a.jsonl").write_text(LINES)
    source = windrow.sources.jsonl("s3://bucket/in", follow=True)
    reader = source.open_live(SCHEMA, None)
    assert isinstance(reader, stored_rows.StoredFiles)
    reader._look(0.0)
    (bucket / "a.jsonl").write_text(LINES + LINES)
    with pytest.raises(TransientError, match="replaced"):
        reader.poll(1_000, 0.0)
    reader.close()
    again = source.open_live(SCHEMA, None)
    rows = 0
    while (polled := again.poll(1_000, 0.0)) is not None:
        rows += polled.rows.num_rows
    again.close()
    assert rows == 4


def test_a_file_that_changes_while_it_is_read_is_refused(bucket: Path) -> None:
    (bucket / "a.jsonl").write_text(LINES)
    batches = windrow.sources.jsonl("s3://bucket/in").read(SCHEMA)
    next(batches)
    (bucket / "a.jsonl").write_text(LINES + LINES)
    assert code_of(lambda: list(batches)) == "WD507"


def test_a_folder_that_fills_is_followed(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_rows, "LOOK_EVERY_S", 0.0)
    source = windrow.sources.jsonl("s3://bucket/in/*.jsonl", follow=True)

    def keys(reader: stored_rows.StoredFiles) -> tuple[list[int], dict[str, int]]:
        found, position = [], dict(reader._read)
        while (polled := reader.poll(1_000, 0.0)) is not None:
            found += polled.rows.batch["k"].to_pylist()
            position = polled.position
        return found, position

    (bucket / "b.jsonl").write_text(LINES)
    (bucket / "c.jsonl.tmp").write_text(LINES)
    (bucket / "d.csv").write_text("no")
    reader = source.open_live(SCHEMA, None)
    assert isinstance(reader, stored_rows.StoredFiles)
    found, position = keys(reader)
    assert found == [1, 2]
    (bucket / "a.jsonl").write_text(LINES.replace("1}", "7}"))
    assert keys(reader)[0] == [7, 2]
    reader.close()
    again = source.open_live(SCHEMA, position)
    assert isinstance(again, stored_rows.StoredFiles)
    (bucket / "c.jsonl.tmp").rename(bucket / "c.jsonl")
    assert keys(again)[0] == [7, 2, 1, 2]
    monkeypatch.setattr(stored_rows, "stored_files", _refuse)
    with pytest.raises(TransientError):
        again.poll(1_000, 0.0)
    again.close()


def _refuse(*_: object) -> None:
    raise OSError("nobody answers")


@pytest.mark.s3
def test_a_bucket_of_a_real_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = Path(__file__).parents[3] / ".venv" / "s3" / "server"
    if not packages.exists():
        pytest.skip("what S3 needs is fetched by `make test-s3`")
    store = S3Store(packages, "building")
    try:
        settings = {
            "AWS_ENDPOINT_URL": store.address,
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "something",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        bucket, _ = fs.FileSystem.from_uri("s3://building")
        for name in ("a", "b"):
            with bucket.open_output_stream(f"building/in/{name}.jsonl") as file:
                file.write(LINES.encode())
        for path in ("s3://building/in", "s3a://building/in/*.jsonl", "s3://building/in/a.jsonl"):
            source = windrow.sources.jsonl(path)
            source.check(SCHEMA)
            rows = sum(rows.num_rows for rows, _ in source.read(SCHEMA))
            assert rows == (2 if path.endswith("a.jsonl") else 4)
        session = windrow.connect(path=tmp_path / "state")
        live = windrow.sources.jsonl("s3://building/in", follow=True)
        session.stream("s", "ts timestamp, k int", time="ts", source=live)
        session.start_sources()
        deadline = time.monotonic() + 60
        while session.ledger()["rows_in"].to_pylist() != [4] and time.monotonic() < deadline:
            session.wait_for_sources(timeout=0.1)
        assert session.ledger()["rows_in"].to_pylist() == [4]
        session.stop()
        assert "something" not in live.shown
    finally:
        store.stop()
