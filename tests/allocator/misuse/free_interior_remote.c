/* Another thread than the one that allocated frees addresses inside of blocks: what it gives back
 * must not come out of malloc there. */
#include "../support/threads.h"
#include "misuse.h"

enum { FREED = 100 };

static void *free_inside(void *unused) {
    for (int i = 0; i < FREED; i++)
        free(launder((char *)neighbours[i] + 16));
    return unused;
}

int main(void) {
    allocate_neighbours(64);
    thread_join(thread_start(free_inside, NULL));
    allocate_neighbours(64);
    return 0;
}
