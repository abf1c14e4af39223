/* A thread that ends leaves a few blocks in its heap for the next one, which frees many before it
 * asks for the first: however deep the magazines were that the first one left, and however many
 * blocks lie in them, no block is lost. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/threads.h"

enum { SIZE = 500, BLOCKS = 3000, ROUNDS = 30, MOST_LEFT = 40, STRIDE = 1201 };
static unsigned char *others[BLOCKS];

static void *must_have(void) {
    void *block = malloc(SIZE);
    CHECK(block);
    return block;
}

/* Blocks that come back scattered and are wanted again make a magazine deep. */
static void go_up_and_down(void **blocks) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < BLOCKS; i++)
            blocks[i] = must_have();
        for (unsigned i = 0; i < BLOCKS; i++)
            free(blocks[i * STRIDE % BLOCKS]);
    }
}

/* Leaves `left` blocks in the magazine, and the others to the next thread. */
static void *leave_some(void *argument) {
    static void *blocks[BLOCKS];
    const unsigned *left = argument;
    go_up_and_down(blocks);
    for (unsigned i = 0; i < BLOCKS; i++)
        others[i] = must_have();
    for (unsigned i = 0; i < *left; i++) {
        free(others[i]);
        others[i] = NULL;
    }
    return NULL;
}

static void *free_many(void *unused) {
    for (unsigned i = 0; i < BLOCKS; i++)
        free(others[i]);
    return unused;
}

/* Each block is one of its own. */
static void take_many(void) {
    for (unsigned i = 0; i < BLOCKS; i++)
        memset(others[i] = must_have(), (int)(i % 251), SIZE);
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(others[i][0] == i % 251 && others[i][SIZE - 1] == i % 251);
}

int main(void) {
    size_t before = 0;
    for (unsigned left = 0; left < MOST_LEFT; left++) {
        thread_join(thread_start(leave_some, &left));
        thread_join(thread_start(free_many, NULL));
        take_many();
        free_many(NULL);
        invariants_hold();
        malloc_trim(0);
        if (left == 0)
            before = mallinfo2().uordblks;
    }
    size_t after = mallinfo2().uordblks;
    CHECK_THAT(after < before + (size_t)BLOCKS * SIZE, "%zu, then %zu bytes out", before, after);
    return 0;
}
