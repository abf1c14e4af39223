#!/bin/sh
# A whole program for `pipeline versus`: gcc compiles benchmark programs.
cd "$(dirname "$(readlink -f "$0")")/.." || exit
for source in larson.c patterns.c server.c; do
    gcc -O2 -std=gnu17 -D_GNU_SOURCE -Icommon -S -o /dev/null $source || exit
done
