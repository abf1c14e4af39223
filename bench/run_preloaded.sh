#!/bin/sh
# run_preloaded.sh LIBRARY PROGRAM...: runs a program of this folder with the library preloaded.
# Fails if the program fails, or if its malloc did not come from the library: the dynamic linker
# only warns when it cannot preload.
library=$1
shift
result=$(LD_PRELOAD=$library "$@") || exit
echo "$result"
case $result in
*" allocator=$(basename "$library")"*) ;;
*) echo "malloc did not come from $library" >&2 && exit 1 ;;
esac
