"""What a checkpoint begins with whose query goes on from the state of another run.

begin/00000.bucket        header and segments of a bucket, which its first batch takes over
begin/publication.batch   what the driver knows before the first batch

They stay: a first batch that was not committed takes them over again.
"""

from __future__ import annotations

from windrow.errors import CheckpointError
from windrow.storage import Storage

__all__ = ["BEGIN_FOLDER", "PUBLICATION", "bucket_file", "read_beginning"]

BEGIN_FOLDER = "begin"
PUBLICATION = "publication.batch"


def bucket_file(bucket: int) -> str:
    """The name of the file of a bucket."""
    return f"{bucket:05d}.bucket"


def read_beginning(folder: Storage, name: str) -> bytes:
    """A file of the beginning, which must be there."""
    data = folder.read(name)
    if data is None:
        raise CheckpointError(
            "WC224",
            f"the checkpoint has lost {folder.location}/{name}, from which the query goes on",
            hint="restore the checkpoint directory from a copy, or import the state again",
        )
    return data
