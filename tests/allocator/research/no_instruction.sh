#!/bin/sh
# no_instruction.sh COMPILER OBJDUMP ALLOCATOR WORK: the counters of research builds leave no
# instruction in production. Every file that counts is compiled as it is and with its counting lines
# removed; the machine code must be the same.
set -eu
compiler=$1 objdump=$2 allocator=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
cp -r "$allocator" "$work/as_it_is"
cp -r "$allocator" "$work/without"
counting=$(cd "$allocator" && grep -rl 'HAK_TALLY(' --include='*.[ch]' . | grep -v base/tally.h)
[ -n "$counting" ] || { echo "no file counts anything"; exit 1; }
for file in $counting; do
    sed -i '/HAK_TALLY(/d' "$work/without/$file"
done

# Headers that count are compiled with the gate.
for file in front/gate.c $(echo "$counting" | grep '\.c$'); do
    for tree in as_it_is without; do
        "$compiler" -std=gnu17 -O2 -fPIC -ffunction-sections -D_GNU_SOURCE -DHAK_REPLACE=1 \
            "-DHAK_VERSION=\"0\"" -I "$work/$tree" -I "$work/$tree/include" \
            -c "$work/$tree/$file" -o "$work/$tree.o"
        "$objdump" -d -r "$work/$tree.o" | grep -v 'file format' > "$work/$tree.text"
    done
    grep -q 'ret' "$work/as_it_is.text" || { echo "$file: no code was compared"; exit 1; }
    cmp "$work/as_it_is.text" "$work/without.text" || { echo "$file: the counters left a trace"; exit 1; }
done
