#!/bin/sh
# printed.sh LIBRARY PROGRAM...: what HAKMEM_COUNTERS prints is a table, or JSON; without it, nothing. (Not every
# program will do: those of coreutils close stderr before they end.)
set -eu
run() { env "$1" "${2:-A=1}" LD_PRELOAD="$library" $program 2>&1 >/dev/null; }
library=$1
shift
program=$*
[ -z "$(run A=1)" ]
run HAKMEM_COUNTERS=1 | head -n 1 | grep -q '^[^ ]*:$'
run HAKMEM_COUNTERS=1 | sed -n 2p | grep -q '^ *size *pop *push *fallback *refill *retire *remote$'
run HAKMEM_COUNTERS=2 | python3 -c '
import json, sys
printed = json.load(sys.stdin)
assert printed["forced_libc"] is False and printed["classes"], printed
names = {"size", "pop", "push", "fallback", "refill", "retire", "remote"}
assert all(set(row) == names for row in printed["classes"]), printed
assert sum(row["pop"] for row in printed["classes"]) > 0, printed'
run HAKMEM_COUNTERS=2 HAKMEM_FORCE_LIBC=1 | python3 -c '
import json, sys
printed = json.load(sys.stdin)
assert printed["forced_libc"] is True, printed
assert not any(row["pop"] for row in printed["classes"]), printed'
