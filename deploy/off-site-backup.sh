#!/bin/sh
# Adds an encrypted backup to the repository of restic.env. Only what is new is sent.
set -eu
umask 077
. "$HOME/source/deploy/profile"
set -a
. "$HOME/restic.env"
set +a
database="$HOME/backups/off-site/database.backup"
mkdir -p "$HOME/backups/off-site"
rm -f "$database"
trap 'rm -f "$database"' EXIT
# A file stays for an hour after the last record that refers to it was deleted. So that the copy which belongs to the
# database is complete within this hour, most files are sent before.
# Exit code 3: a file was removed meanwhile, which may happen while this takes long.
restic backup --tag files "$HOME/data/files" || [ $? -eq 3 ]
mainstay backup --without-files "$database"
restic backup --tag complete "$HOME/data/files" "$database"
restic forget --keep-daily 30 --keep-monthly 24 --prune
