/* The benchmark's own memory, and what the system says about the process's memory. */
#include "bench.h"
#include "block.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t table_bytes;

void *bench_table(size_t bytes) {
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (table == MAP_FAILED)
        bench_fail("no %zu bytes for the benchmark's own tables", bytes);
    atomic_fetch_add_explicit(&table_bytes, bytes, memory_order_relaxed);
    return table;
}

void bench_table_free(void *table, size_t bytes) {
    munmap(table, bytes);
}

uint64_t bench_tables_kib(void) {
    return atomic_load_explicit(&table_bytes, memory_order_relaxed) / 1024;
}

/* A line `name:   123 kB` of /proc/self/status. No stdio: it would allocate. */
static uint64_t status_kib(const char *name) {
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        bench_fail("cannot read /proc/self/status");
    text[length] = '\0';
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name) + 1, NULL, 10) : 0;
}

uint64_t bench_rss_kib(void) {
    return status_kib("VmRSS");
}
uint64_t bench_peak_rss_kib(void) {
    return status_kib("VmHWM");
}

static unsigned char pattern_byte(uint64_t tag) {
    return (unsigned char)(tag * 31 + 7);
}

void bench_fill(void *block, size_t size, uint64_t tag) {
    memset(block, pattern_byte(tag), size);
}

void bench_verify(const void *block, size_t size, uint64_t tag) {
    const unsigned char *bytes = block;
    for (size_t at = 0; at < size; at++)
        if (bytes[at] != pattern_byte(tag))
            bench_fail("contents changed: block %p of %zu bytes, byte %zu is 0x%02x", block, size,
                       at, bytes[at]);
}
