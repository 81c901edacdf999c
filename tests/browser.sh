#!/bin/sh
# The browser that some tests drive: the system's own, or installed where that can be done without asking anyone.
set -eu
for name in chromium-headless-shell chromium chromium-browser; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if command -v apt-get >/dev/null; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    if $as_root true 2>/dev/null; then
        $as_root apt-get update -qq
        $as_root apt-get install -y -qq --no-install-recommends chromium-headless-shell
        exit 0
    fi
fi
echo "Some tests drive a real browser: install Chromium first, on Debian with 'apt-get install chromium', then repeat." >&2
exit 1
