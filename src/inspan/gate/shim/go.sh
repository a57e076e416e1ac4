#!/bin/sh
# go, whose tests run by way of a program of ours; every other command of go's is left alone.
@find@
place=.
case ${1-} in
-C) place=${2-.} && shift 2 ;;
-C=*) place=${1#-C=} && shift ;;
esac
if [ "${1-}" != test ]; then
    [ "$place" = . ] || set -- -C "$place" "$@"
    exec "$real" "$@"
fi
shift
cd "$place" || exit 1
run=$(mktemp "@evidence@/go-XXXXXXXX") || exit 1
"$real" test -exec "'@shim@/go-exec'" "$@"
status=$?
# Which package stands where, for those that could not be built and ran nothing.
[ "$status" = 0 ] || "$real" list -e -f '{{.ImportPath}}	{{.Dir}}' ./... >"$run.packages" 2>/dev/null
printf '%s\n%s\n' "@key@" "$status" >"$run.ended"
exit "$status"
