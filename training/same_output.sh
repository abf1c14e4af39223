#!/bin/sh
# same_output.sh LIBRARY PROGRAM...: a training program must print the same line with and without.
library=$1
shift
plain=$("$@") || exit
preloaded=$(LD_PRELOAD=$library "$@") || exit
echo "$preloaded"
[ -n "$plain" ] && [ "$plain" = "$preloaded" ]
