"""What can be wrong with a durable session, in one place: codes WC401 to WC414."""

from __future__ import annotations

from pathlib import Path

from windrow.errors import CheckpointError
from windrow.private_files import is_full

__all__ = [
    "broken_off",
    "damaged",
    "declared_otherwise",
    "files_have_changed",
    "foreign",
    "function_missing",
    "in_use",
    "newer_format",
    "not_a_folder",
    "not_replayed",
    "other_function",
    "other_settings",
    "read_otherwise",
    "unreadable",
    "unwritten",
]

_RESTORE = "restore the folder from a copy; what the copy lacks must be pushed again"


def not_a_folder(path: Path, problem: OSError) -> CheckpointError:
    """The path cannot be a folder of ours."""
    return CheckpointError(
        "WC401",
        f"{path} cannot hold the state of a session: {problem}",
        hint="name a folder on a local disk that this user may write to",
    )


def in_use(path: Path, owner: str) -> CheckpointError:
    """Another session has it."""
    return CheckpointError(
        "WC402",
        f"{path} is in use by another session" + (f", of process {owner}" if owner else ""),
        hint="stop that session first: session.stop(), or end its process",
    )


def foreign(path: Path, name: str) -> CheckpointError:
    """The folder has files that are none of a session."""
    return CheckpointError(
        "WC403",
        f"{path} holds {name!r}, which is no state of a session",
        hint="name an empty folder, or one that a session has written",
    )


def newer_format(path: Path, version: int, known: int) -> CheckpointError:
    """A later version of Windrow wrote it."""
    return CheckpointError(
        "WC404",
        f"{path} was written in format {version}; this version of Windrow reads up to {known}",
        hint="open it with the version that wrote it, or a later one",
    )


def damaged(path: Path, offset: int, what: str) -> CheckpointError:
    """Bytes that were safely on the disk are not what was written."""
    return CheckpointError("WC405", f"{path} is damaged at byte {offset}: {what}", hint=_RESTORE)


def unreadable(path: Path, problem: OSError) -> CheckpointError:
    """The disk does not give what is there."""
    return CheckpointError("WC406", f"{path} cannot be read: {problem}", hint=_RESTORE)


def unwritten(path: Path, problem: OSError) -> CheckpointError:
    """The disk takes nothing, and nothing has happened."""
    why = "the disk is full" if is_full(problem) else "it cannot be written"
    return CheckpointError(
        "WC407",
        f"{path}: {why} ({problem}); this call has changed nothing",
        hint="free space on that disk, or let this user write there, and call again",
    )


def broken_off(path: Path, why: str) -> CheckpointError:
    """What the session has in memory may not be what its log says."""
    return CheckpointError(
        "WC408",
        f"the session at {path} was broken off: {why}",
        hint="stop() it and open it again: windrow.connect(path=...); it continues from its log",
    )


def other_settings(path: Path, name: str, saved: object, given: object) -> CheckpointError:
    """It was begun with another setting."""
    return CheckpointError(
        "WC409",
        f"the session at {path} has {name}={saved!r}, not {given!r}",
        hint=f"omit {name}= to open it as it is, or name another folder",
    )


def declared_otherwise(kind: str, name: str) -> CheckpointError:
    """A name of the session means something else than what is declared now."""
    remedy = f"stop it first, session[{name!r}].stop(), or choose another name"
    if kind != "query":
        remedy = "declare it as before, choose another name, or begin in another folder"
    return CheckpointError(
        "WC410", f"the session has a {kind} {name!r} already, declared otherwise", hint=remedy
    )


def function_missing(name: str, signature: str) -> CheckpointError:
    """A function of Python is in no log."""
    return CheckpointError(
        "WC411",
        f"the session calls the function {name!r}, {signature}, which is not saved",
        hint=f"give it again before anything else: session.function({name!r}, ...)",
    )


def other_function(name: str, saved: str, given: str) -> CheckpointError:
    """It takes or returns other types than before."""
    return CheckpointError(
        "WC411",
        f"the function {name!r} was {saved}, and is now {given}",
        hint="give the function that the session had: its queries were answered with it",
    )


def files_have_changed(path: Path) -> CheckpointError:
    """A job that goes on does not find what it has read."""
    return CheckpointError(
        "WC413",
        f"the files of the job have fewer rows than the job at {path} has read of them",
        hint="give it the files that it had, or begin in another folder",
    )


def read_otherwise(path: Path) -> CheckpointError:
    """A job that followed no source follows one now."""
    return CheckpointError(
        "WC414",
        f"the job at {path} has read files to their ends, and is to follow them now: it does not "
        "know how far it has come in them",
        hint="omit follow = TRUE, or begin in another folder",
    )


def not_replayed(path: Path, sequence: int, why: str) -> CheckpointError:
    """The log is sound, but says what cannot be done."""
    return CheckpointError(
        "WC412",
        f"record {sequence} of {path} cannot be replayed: {why}",
        hint="open it with the version of Windrow that wrote it, or restore it from a copy",
    )
