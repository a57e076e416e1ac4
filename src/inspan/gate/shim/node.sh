#!/bin/sh
# node, with our module loaded whatever a package script has made of NODE_OPTIONS.
@find@
ours=@options@
case " ${NODE_OPTIONS-} " in
*" $ours "*) ;;
*) export NODE_OPTIONS="$ours${NODE_OPTIONS:+ $NODE_OPTIONS}" ;;
esac
exec "$real" "$@"
