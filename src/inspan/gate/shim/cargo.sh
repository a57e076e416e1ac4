#!/bin/sh
# cargo, whose test programs and doc tests run by way of programs of ours; every other command of its is left alone.
@find@
toolchain=
case ${1-} in +*) toolchain=$1 && shift ;; esac
more=--no-fail-fast # evidence of every test, whatever the first one does
for word; do
    case $word in
    --) break ;;
    --no-fail-fast | --fail-fast | --no-run | --list) more= ;;
    esac
done
case "${1-} ${2-}" in
"test "* | "t "*)
    shift
    set -- test $more "$@"
    ;;
"nextest run")
    shift 2
    set -- nextest run $more "$@"
    ;;
*) exec "$real" ${toolchain:+"$toolchain"} "$@" ;;
esac
[ -n "${RUSTDOC-}" ] || export RUSTDOC="@shim@/rustdoc"
run=$(mktemp "@evidence@/cargo-XXXXXXXX") || exit 1
"$real" ${toolchain:+"$toolchain"} "$@"
status=$?
printf '%s\n%s\n' "@key@" "$status" >"$run.ended"
exit "$status"
