"""Kills, torn tails and failing disks, as many as are asked for.

python -m support.kills.campaign --kills N --torn N --apart N, in tests/: each job is killed so
often at random moments, and at every N-th of its calls of the disk; so many of its logs are torn;
and these calls are refused. After each the job goes on to its end, and what is left is compared
with what an undisturbed run leaves.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from support.kills.dying_calls import FAULTS, Disk, killed, refusing
from support.kills.forked import Ending, forked
from support.kills.killed_job import SCRIPTS, STATE, run_job, seen, write_job

__all__ = ["Campaign"]


class DifferenceError(AssertionError):
    """What is left is not what an undisturbed run leaves."""


class Campaign:
    """All that is done to one job."""

    def __init__(self, name: str, choice: random.Random) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self._choice = choice
        self._folder = Path(tempfile.mkdtemp(prefix=f"kills-{name}-"))
        self._errors = self._folder / "errors"
        self._fresh_from = self._folder / "files"
        self._fresh_from.mkdir()
        write_job(self._fresh_from, name)
        self._load()
        folder = self._fresh()
        ending = self._run(folder)
        assert ending.status == 0, self._errors.read_text()
        self.lasts_s = ending.lasted_s
        self.wanted = seen(folder)

    def _load(self) -> None:
        """Run the job here, and what goes on from a snapshot: copies find all of it loaded."""
        run_job(self._fresh())
        folder = self._fresh()
        self._run(folder, partial(Disk, killed, 150))
        run_job(folder)
        os.chdir(self._folder)

    def close(self) -> None:
        """Leave nothing on the disk."""
        shutil.rmtree(self._folder)

    def _fresh(self) -> Path:
        folder = self._folder / "job"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._fresh_from, folder)
        return folder

    def _run(
        self,
        folder: Path,
        disk: Callable[[], Disk] | None = None,
        kill_after_s: float | None = None,
    ) -> Ending:
        def work() -> None:
            descriptor = os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 2)
            made = None if disk is None else disk()
            try:
                run_job(folder)
            finally:
                if made is not None:
                    (folder / "hits").write_text(str(made.hits))

        return forked(work, kill_after_s)

    # ---- what is done

    def kill_at_random(self, kills: int) -> None:
        """Kill runs at any moment, each again and again until it comes to its end."""
        killed_before = self.counts["killed"]
        while self.counts["killed"] - killed_before < kills:
            folder, moments = self._fresh(), []
            while True:
                moments.append(self._choice.uniform(0, self.lasts_s))
                ending = self._run(folder, kill_after_s=moments[-1])
                if not ending.was_killed:
                    break
                self.counts["killed"] += 1
            self._compare(ending, folder, f"killed after {moments}")

    def kill_at_calls(self, apart: int = 1) -> None:
        """Kill a run at its first call, its second, and so on; what goes on is killed as well."""
        for number in range(1, 1 << 30, apart):
            folder = self._fresh()
            if not self._killed_at(folder, number):
                return
            if self._choice.random() < 0.5:
                self._killed_at(folder, self._choice.randrange(1, 60))
            self._compare(self._run(folder), folder, f"killed at call {number}")

    def _killed_at(self, folder: Path, call: int) -> bool:
        was_killed = self._run(folder, partial(Disk, killed, call)).was_killed
        self.counts["killed at a call"] += was_killed
        return was_killed

    def tear(self, times: int) -> None:
        """Kill a run, and cut off the end of its log, or let bytes follow that nobody wrote."""
        while self.counts["torn"] < times:
            folder = self._fresh()
            notes, never = folder / "synced", 1 << 60
            disk = partial(Disk, killed, never, synced=notes)
            self._run(folder, disk, kill_after_s=self._choice.uniform(0, self.lasts_s))
            logs = sorted((folder / STATE).glob("log-*")) if (folder / STATE).is_dir() else []
            if not logs:
                continue
            how = self._tear(logs[-1], _safe_bytes(notes, logs[-1].name))
            self.counts["torn"] += 1
            self._compare(self._run(folder), folder, f"{logs[-1].name} {how}")

    def _tear(self, log: Path, safe: int) -> str:
        """What a power cut may leave of what was not synced."""
        size = log.stat().st_size
        ways = ["cut", "cut", "zeros", "garbage", "bits"] if safe < size else ["zeros", "garbage"]
        way = self._choice.choice(ways)
        if way in ("zeros", "garbage"):
            count = self._choice.randrange(1, 5_000)
            made = bytes(count) if way == "zeros" else self._choice.randbytes(count)
            with log.open("ab") as file:
                file.write(made)
            return f"with {count} bytes of {way}"
        count = self._choice.randrange(1, size - safe + 1)
        with log.open("r+b") as file:
            if way == "cut":
                file.truncate(size - count)
                return f"without {count} of {size} bytes"
            # What was written last has come to the disk in part: blocks that hold something else.
            file.seek(size - min(count, 40))
            file.write(self._choice.randbytes(min(count, 40)))
        return f"with other bytes at its end, {min(count, 40)}"

    def refuse(self, fault: str, apart: int = 1, *, lasts: bool = False) -> None:
        """Let each call of the disk fail, once, or from then on."""
        for first in range(1, 1 << 30, apart):
            folder = self._fresh()
            last = 1 << 30 if lasts else first
            ending = self._run(folder, partial(Disk, refusing(FAULTS[fault]), first, last))
            text = self._errors.read_text()
            what = f"{fault} at call {first}" + (" and after it" if lasts else "")
            hits = int((folder / "hits").read_text())
            if not hits:
                return
            self.counts[what.split(" at ")[0] + (", from then on" if lasts else ", once")] += 1
            if ending.status not in (0, 1):
                raise DifferenceError(f"{what}: status {ending.status}\n{text}")
            if ending.status == 1:
                last_line = text.strip().splitlines()
                if not any("windrow.errors." in line for line in last_line):
                    raise DifferenceError(f"{what}: no error of its own\n{text}")
                code = next((line for line in last_line if line.startswith("windrow.errors.")), "")
                self.counts["error " + code.partition("[")[2][:5]] += 1
            self._compare(self._run(folder), folder, what)

    # ---- what is left

    def _compare(self, ending: Ending, folder: Path, what: str) -> None:
        if ending.status != 0:
            text = self._errors.read_text()
            raise DifferenceError(f"{self.name}, {what}: status {ending.status}\n{text}")
        found = seen(folder)
        names = sorted(found.keys() | self.wanted.keys())
        differing = [name for name in names if found.get(name) != self.wanted.get(name)]
        if differing:
            kept = Path(tempfile.mkdtemp(prefix="differing-")) / "job"
            shutil.copytree(folder, kept)
            pairs = [(name, found.get(name), self.wanted.get(name)) for name in differing[:3]]
            shown = "\n".join(f"{name}: {each}\n  not {wanted}" for name, each, wanted in pairs)
            raise DifferenceError(f"{self.name}, {what}: {differing} differ, in {kept}\n{shown}")
        self.counts["compared"] += 1
        if self.counts["compared"] % 100 == 0:
            _tell(f"{self.name} so far: {self.told}")

    @property
    def told(self) -> str:
        """What was done, and how often."""
        return ", ".join(f"{count:,} {what}" for what, count in self.counts.items())


def _safe_bytes(notes: Path, name: str) -> int:
    """How many bytes of a file were safe."""
    lines = notes.read_text().splitlines() if notes.exists() else []
    found = [line.split() for line in lines]
    return max((int(size) for file, size in found if file == name), default=0)


def main() -> None:
    """Run all of it, and say how often."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=0, help="at random moments, of each job")
    parser.add_argument("--torn", type=int, default=0, help="logs, of each job")
    parser.add_argument("--apart", type=int, default=0, help="calls of the disk; 0: none is hit")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--jobs", nargs="*", default=[*SCRIPTS])
    given = parser.parse_args()
    _tell(f"seed {given.seed}")
    # Whoever stops it early learns what was done so far.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    different = [_done(name, given) for name in given.jobs]
    raise SystemExit(any(different))


def _done(name: str, given: argparse.Namespace) -> bool:
    """All that is asked for, done to one job; whether anything was found."""
    began, is_different = time.monotonic(), False
    campaign = Campaign(name, random.Random(given.seed))
    parts = [partial(campaign.tear, given.torn), partial(campaign.kill_at_random, given.kills)]
    if given.apart:
        parts.append(partial(campaign.kill_at_calls, given.apart))
        parts += [partial(campaign.refuse, fault, given.apart) for fault in FAULTS]
        parts.append(partial(campaign.refuse, "full", given.apart, lasts=True))
    for part in parts:
        try:
            part()
        except DifferenceError as problem:
            is_different = True
            _tell(str(problem))
        except SystemExit:
            _tell(f"{name}, stopped: {campaign.told}")
            raise
        _tell(f"{name}, {time.monotonic() - began:.0f} s: {campaign.told}")
    campaign.close()
    return is_different


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
