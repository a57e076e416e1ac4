#!/bin/sh
# Runs one test program of Go's: its output is kept beside what go is given, and its end is noted.
case $1 in
*.test) grep -aqF test2json "$1" || exec "$@" ;;
*) exec "$@" ;;
esac
program=$1
shift
first=1 json=
for word; do
    [ -z "$first" ] || set --
    first=
    case $word in
    -test.v=test2json) json=1 ;;
    -test.v | -test.v=* | -test.failfast | -test.failfast=* | -test.testlogfile=*) ;;
    -test.list=?*) json=list && set -- "$@" "$word" ;;
    *) set -- "$@" "$word" ;;
    esac
done
[ -z "$first" ] || set --
[ "$json" != list ] || exec "$program" "$@"
run=$(mktemp "@evidence@/gotest-XXXXXXXX") || exit 1
printf '%s\n%s\n' "@key@" "$PWD" >"$run.begun"
# More output than 16 MiB ends the program; go would keep all of it in memory. The log is whole only when the program came to its regular end.
{
    "$program" -test.v=test2json -test.failfast=false "-test.testlogfile=$run.log" "$@"
    printf '%s\n%s\n' "@key@" "$?" >"$run.ended"
} | { ulimit -f 32768 && exec tee "$run.out"; } | if [ -n "$json" ]; then cat; else tr -d '\026\016\017'; fi
{ read -r _ && read -r status; } <"$run.ended"
exit "$status"
