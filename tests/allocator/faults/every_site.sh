#!/bin/sh
# every_site.sh PROGRAM OBJDUMP FOLDER [FUNCTION...]: runs PROGRAM, and wants that each call of a
# system's memory function in its code was made to fail, or names those that never were. Calls in
# the FUNCTIONs cannot happen in this build.
set -eu
program=$1 objdump=$2 folder=$3
shift 3
if grep -q '^Seccomp:.*[12]' /proc/self/status; then
    echo "under a filter of system calls not all of them are called"
    exit 77
fi
mkdir -p "$folder"
"$program" >"$folder/printed"
sort -u "$folder/printed" >"$folder/failed"

# A call's place is the address that it returns to: that of the next instruction.
"$objdump" -d --no-show-raw-insn "$program" | awk '
    /^[0-9a-f]+ <.*>:$/ { name = $2; next }
    /^ *[0-9a-f]+:/ {
        address = $1; sub(":", "", address); sub(/^0+/, "", address)
        if (called) print address, name, called
        called = ""
        if ($0 ~ /(call|jmp).*<__wrap_/ && name !~ /__wrap_/) { called = $NF }
    }' | sort -u >"$folder/all"
[ -s "$folder/all" ] || { echo "no call was found in $program" >&2; exit 1; }
cut -d' ' -f1 "$folder/all" | sort -u >"$folder/places"
comm -13 "$folder/failed" "$folder/places" | grep -w -F -f - "$folder/all" >"$folder/never" || true
for function; do
    sed -i "/ <$function>: /d" "$folder/never"
done
if [ -s "$folder/never" ]; then
    echo "calls that were never made to fail (the place behind it, the function, what it calls):" >&2
    cat "$folder/never" >&2
    exit 1
fi
echo "$(wc -l <"$folder/all") calls, each made to fail but those in: ${*:-none}"
