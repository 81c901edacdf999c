#!/bin/sh
# Programs of Debian that some tests run: the system's own, or unpacked into a folder with the libraries they lack, which
# needs no permission and starts nothing. Where that cannot be done, those tests are left out and say so.
set -eu
into=$1
# Each program, and the package that contains it.
for pair in nginx:nginx caddy:caddy pgbouncer:pgbouncer promtool:prometheus restic:restic; do
    name=${pair%:*}
    if PATH="$PATH:/usr/sbin" command -v "$name" >/dev/null || [ -x "$into/usr/sbin/$name" ] || [ -x "$into/usr/bin/$name" ]; then
        continue
    fi
    missing="${missing:-} ${pair#*:}"
done
[ -n "${missing:-}" ] || exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "Tests of these programs are left out: this system has no packages of Debian with$missing." >&2
    exit 0
fi
mkdir -p "$into/apt/lists/partial" "$into/apt/archives/partial"
cd "$into/apt"
# Lists of packages of our own: the system's may be empty, and belong to root.
set -- -qq --assume-yes -o Debug::NoLocking=1 -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD" -o APT::Sandbox::User="$(id -un)"
if apt-get "$@" update && apt-get "$@" install --download-only --no-install-recommends $missing; then
    for package in archives/*.deb; do
        dpkg-deb --extract "$package" ..
    done
else
    echo "Tests of these programs are left out: the packages$missing could not be had." >&2
fi
rm -rf ../apt
