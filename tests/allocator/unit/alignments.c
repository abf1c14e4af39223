/* Every alignment to 2 MiB with many sizes: aligned, roomy, no overlap, and freed like any block.
 */
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"

enum { WINDOW = 61, MAX_ALIGNMENT = 2 << 20, ROUNDS = 400 };

typedef struct {
    void *block;
    size_t size;
    uint64_t seed;
} Live;

static Live window[WINDOW];
static uint64_t turn;

static void leave(Live *live) {
    if (!live->block)
        return;
    CHECK_THAT(pattern_marked(live->block, live->size, live->seed), "size %zu", live->size);
    free(live->block);
    live->block = NULL;
}

static void enter(size_t alignment, size_t size) {
    Live *live = &window[turn % WINDOW];
    leave(live);
    if (turn % 2)
        CHECK(posix_memalign(&live->block, alignment, size) == 0);
    else
        live->block = memalign(alignment, size);
    CHECK_THAT(live->block && (uintptr_t)live->block % alignment == 0,
               "alignment %zu, size %zu: %p", alignment, size, live->block);
    CHECK(malloc_usable_size(live->block) >= size);
    live->size = size;
    live->seed = turn++;
    pattern_mark(live->block, size, live->seed);
}

/* realloc of an aligned block keeps the contents; the alignment is not promised any more. */
static void grow_and_shrink(size_t alignment, size_t size) {
    void *block = memalign(alignment, size);
    CHECK(block);
    pattern_fill(block, size, alignment);
    block = realloc(block, size * 3 + 1);
    CHECK_THAT(block && pattern_holds(block, size, alignment), "alignment %zu, size %zu", alignment,
               size);
    block = realloc(block, size / 2 + 1);
    CHECK_THAT(block && pattern_holds(block, size / 2, alignment), "alignment %zu, size %zu",
               alignment, size);
    free(block);
}

int main(void) {
    Random random = random_from(11);
    for (size_t alignment = 8; alignment <= MAX_ALIGNMENT; alignment *= 2) {
        for (size_t size = 1; size <= (size_t)1 << 20; size *= 2)
            for (size_t near = size - 1; near <= size + 1; near++)
                enter(alignment, near);
        for (int i = 0; i < ROUNDS; i++)
            enter(alignment, random_size(&random, 16));
        for (size_t size = 1; size <= (size_t)1 << 18; size *= 5)
            grow_and_shrink(alignment, size);
    }
    for (int i = 0; i < WINDOW; i++)
        leave(&window[i]);
    return 0;
}
