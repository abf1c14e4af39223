# A Rust program with the system's allocator: threads, channels, maps, aligned and large buffers;
# and rustc itself, compiling it again. Compared is what the program prints.
source "$APPS/lib.sh"

setup() { rustc --edition 2021 -C opt-level=2 "$APPS/work.rs" -o work; }

run() { "$SETUP/work"; }

"$@"
