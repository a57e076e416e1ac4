set -f
IFS=:
real=
for place in $PATH; do
    if [ "$place" != "@shim@" ] && [ -x "${place:-.}/${0##*/}" ]; then
        real=${place:-.}/${0##*/}
        break
    fi
done
unset IFS
set +f
if [ -z "$real" ]; then
    echo "${0##*/}: not found" >&2
    exit 127
fi
