#!/bin/sh
# Firefox, in which the main journeys are done once: the system's own, or installed where that can be done without asking
# anyone. Where it cannot, that test is left out and says so.
set -eu
for name in firefox-esr firefox; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if command -v apt-get >/dev/null; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    if $as_root true 2>/dev/null; then
        $as_root apt-get update -qq
        $as_root apt-get install -y -qq --no-install-recommends firefox-esr && exit 0
    fi
fi
echo "The journey in Firefox is left out: install it first, on Debian with 'apt-get install firefox-esr'." >&2
