"""How often each row of a result is there after each of its changes."""

from __future__ import annotations

from windrow.compiling.kernels import njit


@njit(cache=True)
def running_counts(codes, weight, counts, out):
    """Apply changes to counts[code, 0]; what each of them leaves goes into `out`."""
    for index in range(codes.size):
        code = codes[index]
        counts[code, 0] += weight[index]
        out[index] = counts[code, 0]
