/* A gigabyte of one class that is freed in a burst goes back in the burst itself: afterwards the
 * program may do nothing that the allocator would notice. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"

#define BURST ((size_t)512 << 20)
enum { SIZE = 64, BLOCKS = BURST / SIZE, LEFT_KIB = 32 << 10, WARM_MS = 1200, PAIRS = 50 };

static void **blocks; /* mapped by the test itself: not part of what is measured */

int main(void) {
    size_t table = BLOCKS * sizeof *blocks;
    blocks = mmap(NULL, table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)blocks != MAP_FAILED);
    memset((void *)blocks, 1, table);
    free(malloc(SIZE));
    sleep_ms(WARM_MS); /* of a program that has just begun, nothing is known */
    size_t before = rss_kib();
    for (size_t i = 0; i < BLOCKS; i++)
        *(char *)(blocks[i] = malloc(SIZE)) = 1;
    size_t full = rss_kib();
    CHECK(full > before + BURST / 1024 / 10 * 9);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    size_t after = rss_kib();
    for (int i = 0; i < PAIRS; i++) {
        free(malloc(SIZE));
        sleep_ms(10);
    }
    say("RSS %zu KiB before, %zu full, %zu after, %zu later", before, full, after, rss_kib());
    CHECK_THAT(after <= before + LEFT_KIB, "%zu KiB left", after - before);
    return 0;
}
