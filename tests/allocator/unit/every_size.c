/* Every size from 0 to 70,000 and further ones to 1 GiB: room, alignment, no overlap, little waste.
 *
 * A window of the latest blocks stays alive. Each is filled to the end of its usable size, and
 * must still hold its pattern when it leaves the window: a block that reached into a neighbour
 * would have spoilt it.
 */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"

enum {
    WINDOW = 257,
    DENSE = 70000,
    WASTE_FREE_ABOVE = 128,
    LARGEST_CLASS = 256 << 10,
    SMALL = 64 << 10
};

typedef struct {
    void *block;
    size_t usable;
    uint64_t seed;
} Live;

static Live window[WINDOW];
static uint64_t turn;

static void leave(Live *live) {
    if (!live->block)
        return;
    CHECK_THAT(pattern_marked(live->block, live->usable, live->seed), "usable size %zu",
               live->usable);
    free(live->block);
    live->block = NULL;
}

static void enter(size_t size) {
    Live *live = &window[turn % WINDOW];
    leave(live);
    live->block = malloc(size);
    CHECK_THAT(live->block, "malloc(%zu)", size);
    live->usable = malloc_usable_size(live->block);
    live->seed = turn++;
    CHECK_THAT(live->usable >= size, "usable size %zu of %zu", live->usable, size);
    CHECK_THAT((uintptr_t)live->block % 16 == 0, "malloc(%zu) gave %p", size, live->block);
    pattern_mark(live->block, live->usable, live->seed);
}

/* Large blocks are whole pages of the system, which may be larger than 4 KiB. */
static size_t waste_allowed(size_t size) {
    size_t page = size > SMALL ? (size_t)sysconf(_SC_PAGESIZE) : 0;
    return page > size / 8 + 1 ? page : size / 8 + 1;
}

static void waste_is_small(size_t size) {
    void *block = malloc(size);
    size_t usable = malloc_usable_size(block);
    CHECK_THAT(usable - size <= waste_allowed(size), "malloc(%zu) occupies %zu", size, usable);
    free(block);
}

static void clear_window(void) {
    for (int i = 0; i < WINDOW; i++)
        leave(&window[i]);
}

int main(void) {
    for (size_t size = 0; size <= DENSE; size++)
        enter(size);
    for (size_t size = DENSE; size > 0; size -= 7)
        enter(size);
    for (size_t size = DENSE; size <= (size_t)4 << 20; size += size / 97)
        enter(size);
    clear_window();
    for (size_t size = (size_t)4 << 20; size <= (size_t)1 << 30; size += size / 3) {
        enter(size);
        clear_window();
    }
    for (size_t size = WASTE_FREE_ABOVE + 1; size <= DENSE; size++)
        waste_is_small(size);
    for (size_t size = DENSE; size <= LARGEST_CLASS; size += 97)
        waste_is_small(size);
    return 0;
}
