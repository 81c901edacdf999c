#!/bin/sh
# Installs the source that this script belongs to beside the versions that are there, and lets ~/next lead to it.
set -eu
source=$(dirname "$(dirname "$(readlink -f "$0")")")
new="$HOME/versions/$(date +%Y-%m-%d-%H%M%S)"
# What an earlier build left here would be built in again.
rm -rf "$source/build" "$source/src/mainstay.egg-info"
python3 -m venv "$new"
"$new/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$source/requirements.lock"
"$new/bin/pip" install --quiet --disable-pip-version-check --no-deps "$source"
ln -sfn "$new" "$HOME/next"
