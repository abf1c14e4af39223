/* What blocks cost in resident memory, beyond what malloc_usable_size tells: live blocks of one
 * size, written to their last byte asked for, take at most 1/8 more memory than that. Pages of the
 * system that nobody wrote to cost nothing. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { TOTAL = 16 << 20, MAX_BLOCKS = TOTAL / 129, SYSTEM_PAGE = 4096 };
enum { FIXED_KIB = 640 }; /* tables, among them the marks of hardened builds */

static void *blocks[MAX_BLOCKS];

static size_t rounded_to_pages(size_t size) {
    return (size + SYSTEM_PAGE - 1) / SYSTEM_PAGE * SYSTEM_PAGE;
}

static void cost_of(size_t size) {
    size_t count = TOTAL / size, asked = size < SYSTEM_PAGE ? size : rounded_to_pages(size);
    malloc_trim(0); /* what still goes back from the size before would be counted */
    size_t before = rss_kib();
    for (size_t i = 0; i < count; i++) {
        CHECK(blocks[i] = malloc(size));
        memset(blocks[i], 1, size);
    }
    size_t cost = rss_kib() - before, needed = count * asked / 1024;
    CHECK_THAT(cost <= needed + needed / 8 + FIXED_KIB, "%zu blocks of %zu: %zu KiB for %zu KiB",
               count, size, cost, needed);
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
}

int main(void) {
    memset((void *)blocks, 0, sizeof blocks);
    for (size_t size = 129; size <= (size_t)16 << 20; size += size / 3)
        cost_of(size);
    return 0;
}
