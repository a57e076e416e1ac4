#!/bin/sh
# Runs one test program of cargo's: its output is kept beside what is shown, its own log is asked for, its end is noted.
[ -f "$1.d" ] || exec "$@"
for word; do
    [ "$word" != --list ] || exec "$@"
done
run=$(mktemp "@evidence@/libtest-XXXXXXXX") || exit 1
read -r line <"$1.d" # "program: src/lib.rs src/more.rs", the root of the target first
root=$(printf '%s' "${line#*: }" | sed 's/\([^\\]\) .*/\1/; s/\\ / /g')
place=${CARGO_MANIFEST_DIR:-$PWD}
while [ -n "$place" ] && [ ! -e "$place/$root" ]; do place=${place%/*}; done
case $root in /*) place= ;; *) root=$place/$root ;; esac
kind=other
if grep -aqF 'Write logs to the specified file' "$1"; then
    kind=libtest
    set -- "$@" --logfile "$run.log"
fi
printf '%s\n%s\n%s\n' "@key@" "$kind" "$root" >"$run.begun"
{
    "$@"
    printf '%s\n%s\n' "@key@" "$?" >"$run.ended"
} | { ulimit -f 32768 && exec tee "$run.out"; }
{ read -r _ && read -r status; } <"$run.ended"
exit "$status"
