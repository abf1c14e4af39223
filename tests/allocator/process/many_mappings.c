/* A program that has allocated before, and then takes all the mappings which the system allows
 * (vm.max_map_count), can still allocate: the heap grows without a further one. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { MOST = 200000, BLOCKS = 300, SIZE = 1 << 20, SMALL = 1000, SMALL_BLOCKS = 50000 };

/* Neighbours differ in their access, so that the system cannot join them. */
static size_t take_all_mappings(void) {
    size_t count = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    char *start =
        mmap(NULL, MOST * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(start != MAP_FAILED);
    while (count < MOST / 2 && mprotect(start + 2 * count * page, page, PROT_READ) == 0)
        count++;
    return count;
}

static void use(size_t size, size_t count) {
    static void *blocks[SMALL_BLOCKS];
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(size);
        CHECK_THAT(blocks[i], "no block number %zu of %zu bytes", i, size);
        pattern_mark(blocks[i], size, i);
    }
    for (size_t i = 0; i < count; i++) {
        CHECK(pattern_marked(blocks[i], size, i));
        free(blocks[i]);
    }
}

int main(void) {
    hang_limit();
    free(malloc(1));
    if (take_all_mappings() == MOST / 2) {
        say("this system allows more mappings than the test makes");
        return SKIPPED;
    }
    use(SIZE, BLOCKS);
    use(SMALL, SMALL_BLOCKS);
    return 0;
}
