#!/bin/sh
# Create the environment $1 with the first Python of 3.11 or later: $PYTHON, python3 or a named one.
set -eu

venv=$1
if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.13 python3.12 python3.11
fi

for candidate do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done

if [ -z "${python:-}" ]; then
    echo "Windrow needs Python 3.11 or later; $1 is: $("$1" --version 2>&1 || true)" >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "The venv module of $("$python" --version) is missing." >&2
    echo "On Debian and Ubuntu: sudo apt install python3-venv" >&2
    exit 1
fi

echo "Creating $venv with $("$python" --version) ..."
"$python" -m venv "$venv"
