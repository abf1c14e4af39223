/* Blocks that grow and shrink in turn leave holes of their long length. The next one that grows
 * takes such a hole, though it leaves no slack behind the block: new memory would lie beside it.
 * The purge delay is long here: nothing else gives memory back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { BLOCKS = 540, ROUNDS = 60, LONG = 700000, SHORT = 66000 };

static char *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static size_t next_size(void) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 20 & 1 ? LONG : SHORT;
}

static void resize(size_t i) {
    sizes[i] = next_size();
    blocks[i] = realloc(blocks[i], sizes[i]);
    CHECK(blocks[i]);
    memset(blocks[i], 1, sizes[i]);
}

int main(void) {
    size_t before = rss_kib(), live = 0;
    for (size_t n = 0; n < (size_t)ROUNDS * BLOCKS; n++)
        resize(n % BLOCKS);
    size_t held = rss_kib() - before;
    for (size_t i = 0; i < BLOCKS; i++)
        live += sizes[i] >> 10;
    CHECK_THAT(held <= live + live * 4 / 5, "%zu KiB are resident for %zu", held, live);
    return 0;
}
