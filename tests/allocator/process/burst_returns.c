/* Much memory of one class that is freed in a burst, after which the program does next to nothing:
 * it allocates and frees one block of that class now and then, which no slow path need ever see.
 * Early in the life of a process such pairs give the memory back; later the burst itself does. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"

#define BURST ((size_t)256 << 20)
enum { SIZE = 64, BLOCKS = BURST / SIZE, LEFT_KIB = 32 << 10, WARM_MS = 1200, PATIENCE = 12000 };

static void **blocks; /* mapped by the test itself: not part of what is measured */

static size_t burst(void) {
    size_t before = rss_kib();
    for (size_t i = 0; i < BLOCKS; i++)
        *(char *)(blocks[i] = malloc(SIZE)) = 1;
    CHECK(rss_kib() > before + BURST / 1024 / 10 * 9);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return before;
}

static void pairs_give_it_back(void) {
    size_t before = burst();
    for (int i = 0; i < PATIENCE && rss_kib() > before + LEFT_KIB; i++) {
        free(malloc(SIZE));
        sleep_ms(10);
    }
    CHECK_THAT(rss_kib() <= before + LEFT_KIB, "%zu KiB before, %zu after", before, rss_kib());
}

static void goes_back_at_once(void) {
    size_t before = burst(), after = rss_kib();
    CHECK_THAT(after <= before + LEFT_KIB, "%zu KiB before, %zu after", before, after);
}

int main(void) {
    size_t table = BLOCKS * sizeof *blocks;
    blocks = mmap(NULL, table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)blocks != MAP_FAILED);
    memset((void *)blocks, 1, table);
    pairs_give_it_back();
    sleep_ms(WARM_MS); /* between two bursts that have nothing to do with each other */
    goes_back_at_once();
    return 0;
}
