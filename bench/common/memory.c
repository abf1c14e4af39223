/* The benchmark's own memory, and what the system says about the process's memory. */
#include "bench.h"
#include "block.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t table_bytes;

/* Shared memory: never in huge pages by default and not counted as anonymous, so the tables weigh
 * the same under every setting of the system. */
void *bench_table(size_t bytes) {
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (table == MAP_FAILED)
        bench_fail("no %zu bytes for the benchmark's own tables", bytes);
    atomic_fetch_add_explicit(&table_bytes, bytes, memory_order_relaxed);
    return table;
}

/* A line `name:   123 kB` of a file in /proc/self. No stdio: it would allocate. */
static uint64_t proc_kib(const char *path, const char *name) {
    char text[4096];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        bench_fail("cannot read %s", path);
    text[length] = '\0';
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

uint64_t bench_rss_kib(void) {
    return proc_kib("/proc/self/status", "VmRSS:");
}

/* The kernel counts pages per processor and adds up late; only smaps_rollup walks and is exact. */
void bench_note_memory(void) {
    static const char rollup[] = "/proc/self/smaps_rollup";
    uint64_t peak = proc_kib("/proc/self/status", "VmHWM:"), rss = proc_kib(rollup, "Rss:");
    bench_result("peak_rss_kib", peak > rss ? peak : rss);
    bench_result("rss_kib", rss);
    bench_result("anon_kib", proc_kib(rollup, "Anonymous:"));
    bench_result("huge_kib", proc_kib(rollup, "AnonHugePages:"));
    bench_result("tables_kib", atomic_load_explicit(&table_bytes, memory_order_relaxed) / 1024);
}

static unsigned char pattern_byte(uint64_t tag) {
    return (unsigned char)(tag * 31 + 7);
}

void bench_fill(void *block, size_t size, uint64_t tag) {
    memset(block, pattern_byte(tag), size);
}

static void verify_bytes(const void *block, size_t size, unsigned char expected) {
    const unsigned char *bytes = block;
    for (size_t at = 0; at < size; at++)
        if (bytes[at] != expected)
            bench_fail("contents changed: block %p of %zu bytes, byte %zu is 0x%02x", block, size,
                       at, bytes[at]);
}

void bench_verify(const void *block, size_t size, uint64_t tag) {
    verify_bytes(block, size, pattern_byte(tag));
}

void bench_verify_zero(const void *block, size_t size) {
    verify_bytes(block, size, 0);
}
