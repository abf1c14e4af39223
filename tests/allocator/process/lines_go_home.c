/* Two threads are given blocks of one cache line, free them, and go on with blocks of that size.
 * They do not keep the line between them: each write of one would wait for the other. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "../support/check.h"

enum { BLOCKS = 64, SIZE = 16, LINE = 64, TURNS = 64, THREADS = 2 };

static uintptr_t line_of(const void *block) {
    return (uintptr_t)block / LINE;
}

/* The line of the last block. */
static void *use_one_by_one(void *given) {
    uintptr_t line = 0;
    free(given);
    for (int i = 0; i < TURNS; i++) {
        char *volatile block = malloc(SIZE);
        CHECK(block);
        line = line_of(block);
        free(block);
    }
    return (void *)line;
}

/* The first of two blocks in a row that share a line. */
static size_t neighbours(char *const *blocks) {
    size_t i = 0;
    while (i + 2 < BLOCKS && line_of(blocks[i]) != line_of(blocks[i + 1]))
        i++;
    return i;
}

int main(void) {
    char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++)
        CHECK((blocks[i] = malloc(SIZE)) != NULL);
    size_t first = neighbours(blocks);
    uintptr_t given = line_of(blocks[first]);
    pthread_t threads[THREADS];
    void *lines[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, use_one_by_one, blocks[first + i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], &lines[i]) == 0);
    bool both = (uintptr_t)lines[0] == given && (uintptr_t)lines[1] == given;
    CHECK_THAT(!both, "both threads still use the line %zx", (size_t)given);
    return 0;
}
