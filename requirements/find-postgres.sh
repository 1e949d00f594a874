#!/bin/sh
# Succeeds when the programs of a PostgreSQL server are there; root installs them where apt-get can.
set -eu

found() {
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "No PostgreSQL server on this machine: installing Debian's ..."
    install="apt-get install -y -qq --no-install-recommends postgresql"
    { $install || { apt-get update -qq && $install; } || true; } >/dev/null 2>&1
    found && exit 0
fi
echo "No PostgreSQL server here: install one (Debian: apt-get install postgresql)." >&2
exit 1
