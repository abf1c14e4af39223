#!/bin/sh
# A program is compiled with LLVM's memory profiler, run, and compiled again by its profile. Then it
# calls operator new with hints, and no page that is walked has a cold block.
#   walk.sh CLANG++ LLVM-PROFDATA SOURCE LIBRARY FOLDER
set -eu
compiler=$1 profdata=$2 source=$3 library=$4 folder=$5
flags="-O2 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
  -fno-optimize-sibling-calls"
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# shellcheck disable=SC2086 # several words
if ! "$compiler" $flags "-fmemory-profile=$folder" "$source" -o profiled 2> refused; then
    cat refused
    echo "skipped: $compiler has no runtime for -fmemory-profile"
    exit 77
fi
./profiled > /dev/null
"$profdata" merge --profiled-binary profiled memprof.profraw.* -o profile

# A hundredth of what the entries are used, whatever the machine's speed: in hundredths of accesses
# by byte and second, of all blocks of a site.
threshold=$("$profdata" show --memory --profiled-binary profiled memprof.profraw.* | awk '
    $1 == "AllocCount:" { count = $2 }
    $1 == "TotalLifetimeAccessDensity:" && $2 / count > most { most = $2 / count }
    END { printf "%.6f", most / 100 / 100 }')

# By default what lives for less than 200 seconds is never cold.
# shellcheck disable=SC2086
"$compiler" $flags -fmemory-profile-use=profile -mllvm -optimize-hot-cold-new \
    -mllvm -memprof-ave-lifetime-cold-threshold=0 \
    -mllvm "-memprof-lifetime-access-density-cold-threshold=$threshold" -c "$source" -o hinted.o
"$compiler" hinted.o "$library" -o hinted
said=$(LD_LIBRARY_PATH=$(dirname "$library") ./hinted)
case $said in
*" shared=0") ;;
*) echo "not apart: $said"; exit 1 ;;
esac
