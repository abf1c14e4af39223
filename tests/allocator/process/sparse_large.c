/* A program that used its large blocks as a whole and now uses little of them is soon given no more
 * memory than it uses. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { BLOCKS = 100, MIB = 1 << 20, SIZE = MIB + 1, MOST_KIB = 24 << 10 };

static void take(size_t used) {
    for (int i = 0; i < BLOCKS; i++) {
        char *block = malloc(SIZE);
        CHECK(block);
        memset(block, 1, used);
    }
}

int main(void) {
    take(SIZE);
    size_t before = rss_kib();
    CHECK_THAT(before > (size_t)BLOCKS * 1024, "%zu KiB for %d MiB in use", before, BLOCKS);
    take(1);
    size_t after = rss_kib();
    CHECK_THAT(after < before + MOST_KIB, "%zu KiB, before %zu", after, before);
    return 0;
}
