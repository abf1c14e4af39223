#!/bin/bash
# compare.sh SCRIPT: runs SCRIPT plainly and with the library of HAKMEM_LIBRARY_PATH preloaded, each
# in an empty directory of its own, and wants the same output and the same exit status.
#
# Exit 77 (skipped) when SCRIPT says that its program is not on this machine.
set -u
script=$(realpath "$1")
library=${HAKMEM_LIBRARY_PATH:?is not set}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# run NAME [ASSIGNMENT...]: the script in $work/NAME, its output in NAME.out and NAME.err
run() {
    local name=$1
    shift
    mkdir "$work/$name" || exit 2
    (cd "$work/$name" && env LC_ALL=C HOME="$work/$name" "$@" bash "$script") \
        >"$work/$name.out" 2>"$work/$name.err" </dev/null
}

fail() {
    echo "$1"
    head -c 4000 "$work/preloaded.err"
    exit 1
}

if ! LD_PRELOAD=$library grep -q "$(basename "$library")" /proc/self/maps; then
    echo "the library does not load: $library"
    exit 1
fi

run plain
plain=$?
if [ $plain -eq 77 ]; then
    cat "$work/plain.out"
    exit 77
fi
if [ $plain -ne 0 ] || [ ! -s "$work/plain.out" ]; then
    echo "the plain run failed with $plain"
    cat "$work/plain.err"
    exit 1
fi

run preloaded LD_PRELOAD="$library"
preloaded=$?
[ $preloaded -eq 0 ] || fail "the preloaded run ended with $preloaded"
grep -q -e '^hakmem:' -e 'cannot be preloaded' "$work/preloaded.err" && fail "it complained"
diff "$work/plain.out" "$work/preloaded.out" >"$work/difference" && exit 0
head -40 "$work/difference"
fail "the outputs differ"
