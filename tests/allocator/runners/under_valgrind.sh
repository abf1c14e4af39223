#!/bin/sh
# under_valgrind.sh none|memcheck OBJCOPY PROGRAM: runs PROGRAM with the library preloaded under one of
# valgrind's tools. Its address space leaves little room for reservations, and its threads take turns.
#
# none adds nothing. memcheck ends at the first decision by bytes that nobody has written, in PROGRAM or in
# the library, which stays the one that serves malloc: its blocks count as written when they are
# mapped, what lies on stacks and what system calls fill in is followed byte by byte.
#
# Both are copied without debug information first: valgrind stops at formats that it does not know.
set -eu
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not on this machine"
    exit 77
fi
options=
if [ "$1" = memcheck ]; then
    options="--soname-synonyms=somalloc=nouserintercepts --exit-on-first-error=yes --error-exitcode=99"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" --strip-debug "${HAKMEM_LIBRARY_PATH:?is not set}" "$work/libhakmem.so"
"$2" --strip-debug "$3" "$work/program"
# The library goes to the program alone, not to the shell script that valgrind may be.
# shellcheck disable=SC2086  # several options
valgrind --tool="$1" -q --trace-children=yes $options \
    env HAKMEM_LIBRARY_PATH="$work/libhakmem.so" LD_PRELOAD="$work/libhakmem.so" "$work/program"
