/* A request of any size costs no more memory than it needs, and leaves nothing behind: neither one
 * that the system serves, nor one that it refuses. Sizes are drawn from 1 byte to 2^60, for every
 * function of the family. What no machine of this size could ever back is refused, as libc's malloc
 * has it. */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"
#include "../support/threads.h"

/* Small blocks, tables, magazines. */
enum { STEPS = 20000, TOP_BITS = 60, MOST_KIB = 8 << 10, ONCE_KIB = 256 };

static size_t memory_kib(void) {
    return rss_kib() + status_kib("VmPTE:");
}

static void *ask(unsigned function, size_t size, size_t align) {
    void *block = NULL;
    switch (function) {
    case 0:
        return malloc(size);
    case 1:
        return calloc(1, size);
    case 2:
        return memalign(align, size);
    case 3:
        return posix_memalign(&block, align < 8 ? 8 : align, size) == 0 ? block : NULL;
    case 4:
        return aligned_alloc(align, size);
    case 5:
        return pvalloc(size);
    default:
        block = malloc(1 + size / 3);
        void *grown = realloc(block, size);
        if (grown == NULL)
            free(block);
        return grown;
    }
}

/* What the program itself touches of a block is no more than its first bytes. */
static void one_request(Random *random, size_t *served) {
    size_t bits = 1 + random_below(random, TOP_BITS);
    size_t size = 1 + (size_t)(random_next(random) & (((uint64_t)1 << bits) - 1));
    size_t align = (size_t)1 << random_below(random, random_below(random, 8) ? 13 : 47);
    errno = 0;
    char *block = ask((unsigned)random_below(random, 7), size, align);
    CHECK_THAT(block != NULL || size > 1 << 20 || align > 1 << 20, "%zu bytes, aligned to %zu",
               size, align);
    if (block != NULL)
        block[0] = 1;
    *served += block != NULL && size > (size_t)1 << 30;
    free(block);
}

static void at_random(void) {
    Random random = random_from(11);
    size_t served = 0, before = memory_kib();
    for (int i = 0; i < STEPS; i++)
        one_request(&random, &served);
    malloc_trim(0);
    size_t kept = memory_kib() - before;
    CHECK_THAT(kept < MOST_KIB || memory_kib() < before, "%zu KiB more, %zu of 1 GiB and more",
               kept, served);
}

/* The tables of a range for so much would be a thousandth of it. */
static void by_itself(size_t size, size_t align) {
    size_t before = memory_kib();
    void *block = memalign(align, size);
    size_t during = memory_kib();
    free(block);
    size_t after = memory_kib();
    CHECK_THAT(during <= before + ONCE_KIB, "%zu bytes aligned to %zu: %zu KiB before, %zu with it",
               size, align, before, during);
    CHECK_THAT(after <= before + ONCE_KIB, "%zu bytes aligned to %zu: %zu KiB before, %zu after it",
               size, align, before, after);
}

static bool by_default_rule(void) {
    int rule = 0;
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    bool known = file != NULL && fscanf(file, "%d", &rule) == 1;
    if (file != NULL)
        fclose(file);
    return known && rule == 0;
}

static void beyond_the_machine(void) {
    struct sysinfo all;
    if (!by_default_rule() || sysinfo(&all) != 0)
        return;
    size_t size = (all.totalram + all.totalswap) * all.mem_unit + ((size_t)2 << 30);
    errno = 0;
    CHECK(malloc(size) == NULL && errno == ENOMEM);
    char *block = malloc(1 << 20);
    CHECK(block);
    block[5] = 7;
    errno = 0;
    CHECK(realloc(block, size) == NULL && errno == ENOMEM && block[5] == 7);
    free(block);
}

int main(void) {
    hang_limit();
    free(malloc(100));
    memory_kib();
    for (unsigned bits = 30; bits <= 60; bits += 5) {
        by_itself((size_t)1 << bits, 16);
        by_itself(1, (size_t)1 << bits);
    }
    beyond_the_machine();
    at_random();
    return 0;
}
