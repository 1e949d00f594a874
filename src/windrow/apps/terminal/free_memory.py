"""How much memory programs can still take: of this machine, and of the container they are in."""

from __future__ import annotations

from pathlib import Path

__all__ = ["free_memory"]

# Where the two kinds of control groups say their limit, what is used, and what could be given back.
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes, or None where the system does not say; root: another tree of such files, for tests."""
    machine = _numbers(root / "proc/meminfo").get("MemAvailable:")
    if machine is None:
        return None
    groups = root / "sys/fs/cgroup"
    # A container sees its own group at the root, or under the path that it has outside.
    folders = [(groups / _own_group(root, ""), _V2), (groups, _V2)]
    folders += [(groups / "memory" / _own_group(root, "memory"), _V1), (groups / "memory", _V1)]
    left = [_left(folder, files) for folder, files in folders]
    return min(machine * 1024, *(each for each in left if each is not None), machine * 1024)


def _left(folder: Path, files: tuple[str, str, str]) -> int | None:
    """What a group has left of its limit; None where it has none."""
    limit, used = (_numbers(folder / name).get("") for name in files[:2])
    if limit is None or used is None:
        return None
    return max(0, limit - used + _numbers(folder / "memory.stat").get(files[2], 0))


def _own_group(root: Path, controller: str) -> str:
    """The path of this process's group, from lines such as `4:memory:/path`."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path.lstrip("/")
    return ""


def _numbers(file: Path) -> dict[str, int]:
    """Numbers by the word before them, which is empty where a number stands alone."""
    found = {}
    for line in _lines(file):
        name, number = ["", *line.removesuffix(" kB").split()][-2:]
        if number.isdecimal():
            found[name] = int(number)
    return found


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
