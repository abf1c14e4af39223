#!/bin/sh
# Each object of the static library says that it is ready for shadow stacks: who links it with one
# that does not has none.   objects_are_marked.sh <ar> <readelf> <libhakmem.a>
set -eu
members=$("$1" t "$3" | wc -l)
marked=$("$2" -nW "$3" | grep -c 'x86 feature:.*SHSTK' || true)
echo "$marked of $members objects"
test "$members" -gt 0 && test "$marked" -eq "$members"
