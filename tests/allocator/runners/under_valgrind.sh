#!/bin/sh
# under_valgrind.sh OBJCOPY PROGRAM: runs PROGRAM with the library preloaded under valgrind's empty
# tool, whose address space leaves little room for reservations and whose threads take turns.
#
# Both are copied without debug information first: valgrind stops at formats that it does not know.
set -eu
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not on this machine"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --strip-debug "${HAKMEM_LIBRARY_PATH:?is not set}" "$work/libhakmem.so"
"$1" --strip-debug "$2" "$work/program"
# The library goes to the program alone, not to the shell script that valgrind may be.
valgrind --tool=none -q --trace-children=yes \
    env HAKMEM_LIBRARY_PATH="$work/libhakmem.so" LD_PRELOAD="$work/libhakmem.so" "$work/program"
