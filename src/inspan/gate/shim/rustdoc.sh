#!/bin/sh
# rustdoc, whose doc tests' output is kept beside what is shown: named one by one, and not by way of our own program,
# which runs test programs only.
@find@
for word; do
    [ "$word" != --test ] || break
done
[ "${word-}" = --test ] || exec "$real" "$@"
option=
for word; do
    [ -z "${begun-}" ] && set --
    begun=1
    case "$option $word" in
    *" --test-args" | *" --test-runtool") option=$word && continue ;;
    "--test-args -q" | "--test-args --quiet" | "--test-runtool "*inspan-cargo-run) ;;
    *) set -- "$@" ${option:+"$option"} "$word" ;;
    esac
    option=
done
run=$(mktemp "@evidence@/libtest-XXXXXXXX") || exit 1
printf '%s\n%s\n%s\n' "@key@" doc "$PWD" >"$run.begun"
{
    "$real" "$@"
    printf '%s\n%s\n' "@key@" "$?" >"$run.ended"
} | { ulimit -f 32768 && exec tee "$run.out"; }
{ read -r _ && read -r status; } <"$run.ended"
exit "$status"
