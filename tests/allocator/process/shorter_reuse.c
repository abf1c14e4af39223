/* A block that takes the place of a much longer one keeps nothing of what that one had in memory
 * beyond it. The purge delay is long here: nothing else gives memory back. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

#define MIB ((size_t)1 << 20)
/* An allocator may keep some free memory in any case. */
enum { TURNS = 4, LONG_MIB = 200, SHORT_MIB = 51, KEPT_MIB = 24 };

static volatile char *written(size_t size) {
    char *block = malloc(size);
    CHECK(block);
    memset(block, 1, size);
    return block;
}

int main(void) {
    size_t before = rss_kib();
    for (int i = 0; i < TURNS; i++)
        free((void *)written(LONG_MIB * MIB));
    volatile char *block = written(SHORT_MIB * MIB);
    size_t kept = (rss_kib() - before) >> 10;
    CHECK_THAT(kept <= SHORT_MIB + KEPT_MIB, "%zu MiB resident", kept);
    free((void *)block);
    return 0;
}
