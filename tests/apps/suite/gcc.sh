# gcc, g++, the linker and make's like build hakmem itself, and a C++ source that is all templates.
# Compared is the machine code.
source "$APPS/lib.sh"

run() {
    cmake -S "$SOURCE" -B build -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
        -DHAKMEM_TESTS=OFF >cmake.txt
    ninja -C build -j 2 >ninja.txt
    find build -name '*.so' -o -name random_mixed -o -name server | sort | while read -r built; do
        echo "$built $(objdump -d --no-show-raw-insn "$built" | tail -n +4 | sha256sum)"
    done
    g++ -std=c++17 -O2 -pthread "$APPS/cxx_threads.cpp" -S -o templates.s && sha256sum <templates.s
}

"$@"
