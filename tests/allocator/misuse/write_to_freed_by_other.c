/* Writes to blocks that another thread has freed, before their owner takes them back. */
#include "../support/threads.h"
#include "misuse.h"

#include <string.h>

enum { FREED = 100 };

static void *free_some(void *unused) {
    for (int i = 0; i < FREED; i++)
        free(neighbours[i]);
    return unused;
}

int main(void) {
    allocate_neighbours(64);
    thread_join(thread_start(free_some, NULL));
    for (int i = 0; i < FREED; i++)
        memset(launder(neighbours[i]), 'A', 64);
    allocate_neighbours(64);
    return 0;
}
