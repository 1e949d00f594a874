#!/bin/sh
# Succeeds when a Chromium is there; root installs Debian's where apt-get can.
set -eu

found() {
    [ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 ||
        command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium on this machine: installing Debian's ..."
    install="apt-get install -y -qq --no-install-recommends chromium"
    { $install || { apt-get update -qq && $install; } || true; } >/dev/null 2>&1
    found && exit 0
fi
echo "No Chromium here: install one (Debian: apt-get install chromium), or name it in CHROMIUM." >&2
exit 1
