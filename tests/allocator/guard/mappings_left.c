/* HAKMEM_GUARD_PAGES=1: more blocks than the system allows mappings leave some to the program,
 * which maps memory of its own and starts threads. Blocks that are given back make room for others.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { BLOCKS = 40000, SIZE = 100, TIMES = 20, ROUNDS = 2, PAGE = 4096 };

static void *blocks[BLOCKS];

static void *use(void *unused) {
    free(malloc(SIZE));
    return unused;
}

/* A mapping that does not become one with its neighbour. */
static void map_one(void) {
    char *pages =
        mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages, PAGE, PROT_NONE) == 0);
}

int main(void) {
    hang_limit();
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            CHECK(blocks[i] = malloc(SIZE));
            pattern_mark(blocks[i], SIZE, i);
        }
        for (int i = 0; i < TIMES; i++) {
            map_one();
            thread_join(thread_start(use, NULL));
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            CHECK(pattern_marked(blocks[i], SIZE, i));
            free(blocks[i]);
        }
    }
    return 0;
}
