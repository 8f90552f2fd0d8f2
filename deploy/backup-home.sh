#!/bin/sh
# Copies a home while programs work on it: backup-home.sh HOME ARCHIVE.tar.gz
# Check what it made with `wakechart doctor --repair` after it is laid out; take it again where a log is not whole.
set -eu
# What it writes, the list of names too, is for its owner alone.
umask 077
home=$1
archive=$(realpath -m -- "$2")
cd -- "$home"
# How far each log was acknowledged goes first: a log that is read later holds at least that much.
# What is due is made again from the logs, and sockets of processes are of this machine alone.
{
  find . -type f -name events.end -print0
  find . \( -path ./activations -o -path ./hosts \) -prune -o ! -type s ! -name events.end -print0
} > "$archive.names"
trap 'rm -f -- "$archive.names" "$archive.part"' EXIT
code=0
tar --null --no-recursion --files-from="$archive.names" --ignore-failed-read --warning=no-file-changed \
  --warning=no-failed-read --warning=no-file-removed -czf "$archive.part" || code=$?
# 1: some files changed while they were read, which is what happens to logs.
[ "$code" -le 1 ]
mv -- "$archive.part" "$archive"
