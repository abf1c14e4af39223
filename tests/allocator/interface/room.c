/* hak_good_size and hak_resize_in_place: what they promise can be used, and blocks stay in place.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "hakmem.h"

#define CALL(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

/* Guard and research builds widen nothing. */
static int widens(void) {
    char text[4096];
    CALL(hak_stats_json)(text, sizeof text);
    return strstr(text, "production") || strstr(text, "hardened");
}

static void a_good_size_can_be_used_whole(void) {
    size_t (*good_size)(size_t) = CALL(hak_good_size);
    size_t before = 0;
    for (size_t size = 0; size < 200000; size = size < 3000 ? size + 1 : size + 997) {
        size_t good = good_size(size);
        CHECK_THAT(good >= size && good >= before, "%zu for %zu, %zu before", good, size, before);
        CHECK_THAT(good_size(good) == good, "%zu again: %zu", good, good_size(good));
        CHECK_THAT(size < 1024 || good - size <= size / 4 + 4096, "%zu for %zu", good, size);
        char *block = malloc(good);
        CHECK(block && malloc_usable_size(block) >= good);
        free(memset(block, 1, good));
        before = good;
    }
    CHECK(good_size(PTRDIFF_MAX) >= PTRDIFF_MAX);
    CHECK(good_size((size_t)PTRDIFF_MAX + 1) == 0 && good_size(SIZE_MAX) == 0);
}

/* Small blocks, and sizes that cannot be had: the block is what it was. */
static void what_cannot_grow_stays(void) {
    size_t (*resize)(void *, size_t) = CALL(hak_resize_in_place);
    static const size_t sizes[] = {0, 1, 100, 2000, 60000, 70000, 5 << 20};
    errno = EXDEV;
    CHECK(resize(NULL, 100) == 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *block = malloc(sizes[i]);
        size_t room = malloc_usable_size(block);
        pattern_fill(block, room, i);
        CHECK(resize(block, 0) == room && resize(block, room) == room);
        CHECK(resize(block, SIZE_MAX) == room && resize(block, PTRDIFF_MAX) == room);
        CHECK(resize(block, (size_t)1 << 46) == room);
        CHECK(malloc_usable_size(block) == room && pattern_holds(block, room, i));
        free(block);
    }
    CHECK_THAT(errno == EXDEV, "errno is %d", errno);
}

/* What was behind a block is freed: there is room then. Returns whether it was behind it. */
static int grows_into_its_neighbour(size_t size, size_t seed) {
    size_t (*resize)(void *, size_t) = CALL(hak_resize_in_place);
    char *block = malloc(size), *next = malloc(2 * size), *last = malloc(size);
    CHECK(block && next && last);
    size_t room = malloc_usable_size(block);
    pattern_fill(block, room, seed);
    pattern_fill(last, size, seed + 1);
    free(next);
    size_t grown = resize(block, 2 * size);
    CHECK(grown == malloc_usable_size(block) && (grown == room || grown >= 2 * size));
    CHECK(pattern_holds(block, room, seed));
    pattern_fill(block, grown, seed);
    CHECK_THAT(pattern_holds(last, size, seed + 1), "%zu bytes wrote into another block", size);
    free(block);
    free(last);
    return grown != room;
}

static void large_blocks_grow_where_there_is_room(void) {
    int grown = 0;
    for (size_t seed = 0; seed < 16; seed++)
        grown += grows_into_its_neighbour((size_t)(200000 + 100000 * seed), seed);
    CHECK_THAT((grown > 0) == (widens() != 0), "%d of 16 have grown", grown);
}

int main(void) {
    a_good_size_can_be_used_whole();
    what_cannot_grow_stays();
    large_blocks_grow_where_there_is_room();
    CHECK(CALL(hak_validate)() == 1);
    return 0;
}
