# clang, lld with several threads and link-time optimisation, and llvm-objdump build and read
# hakmem. Compared is the machine code.
source "$APPS/lib.sh"

run() {
    local clang
    clang=$(command -v clang-22 clang-21 clang-20 clang-19 | head -1)
    cmake -S "$SOURCE" -B build -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS='-flto=thin' -DCMAKE_SHARED_LINKER_FLAGS='-fuse-ld=lld -Wl,--threads=4' \
        -DCMAKE_EXE_LINKER_FLAGS='-fuse-ld=lld -Wl,--threads=4' -DHAKMEM_TESTS=OFF >cmake.txt
    ninja -C build -j 2 >ninja.txt
    find build -name '*.so' -o -name random_mixed -o -name server | sort | while read -r built; do
        echo "$built $(objdump -d --no-show-raw-insn "$built" | tail -n +4 | sha256sum)"
    done
}

"$@"
