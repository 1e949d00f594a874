#!/bin/sh
# Succeeds when the MQTT broker mosquitto is there; root installs it where apt-get can.
set -eu

found() {
    command -v mosquitto >/dev/null 2>&1 || [ -x /usr/sbin/mosquitto ]
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "No MQTT broker on this machine: installing Debian's mosquitto ..."
    install="apt-get install -y -qq --no-install-recommends mosquitto"
    { $install || { apt-get update -qq && $install; } || true; } >/dev/null 2>&1
    found && exit 0
fi
echo "No MQTT broker here: install mosquitto (Debian: apt-get install mosquitto)." >&2
exit 1
