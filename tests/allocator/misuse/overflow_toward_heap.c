/* Somebody writes 80 bytes behind a block of 128 KiB, where the next room is as large as a thread's
 * heap, and a thread comes that needs one. It allocates as before: what was hit is a block of its
 * own. */
#include <string.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "misuse.h"

enum { LARGE = 128 << 10, HOLE = 40, OVERFLOW = 80, BLOCKS = 1000, SIZE = 64 };

static pthread_barrier_t step;

static void *live(void *unused) {
    char *blocks[BLOCKS];
    free(malloc(SIZE)); /* its heap is there now */
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        CHECK_THAT(blocks[i] && (uintptr_t)blocks[i] % 16 == 0, "malloc returned %p",
                   (void *)blocks[i]);
        memset(blocks[i], i, SIZE);
    }
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i][0] == (char)i && blocks[i][SIZE - 1] == (char)i);
        free(blocks[i]);
    }
    return unused;
}

/* What follows the first of them is free, up to the next one that lies elsewhere. */
static char *block_with_room_behind(void) {
    char *row[HOLE];
    for (int i = 0; i < HOLE; i++) {
        row[i] = malloc(LARGE);
        CHECK(row[i]);
    }
    for (int i = 1; i < HOLE; i++)
        free(row[i]);
    return row[0];
}

int main(void) {
    hang_limit();
    CHECK(pthread_barrier_init(&step, NULL, 3) == 0);
    pthread_t first = thread_start(live, NULL); /* what libc allocates for a thread has its slabs */
    char *block = block_with_room_behind();
    pthread_t second = thread_start(live, NULL);
    pthread_barrier_wait(&step);
    volatile char *behind = (char *)launder(block) + LARGE;
    for (int i = 0; i < OVERFLOW; i++)
        behind[i] = 'A';
    pthread_barrier_wait(&step);
    thread_join(first);
    thread_join(second);
    free(block);
    return 0;
}
