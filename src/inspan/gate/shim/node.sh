#!/bin/sh
# node, with our module loaded whatever a package script has made of NODE_OPTIONS.
@find@
case " ${NODE_OPTIONS-} " in
*" @options@ "*) ;;
*) export NODE_OPTIONS="@options@${NODE_OPTIONS:+ $NODE_OPTIONS}" ;;
esac
exec "$real" "$@"
