/* Two threads free the same block of a third. */
#include "../support/threads.h"
#include "misuse.h"

static void *free_in_thread(void *block) {
    free(block);
    return NULL;
}

int main(void) {
    allocate_neighbours(64);
    thread_join(thread_start(free_in_thread, launder(neighbours[5])));
    thread_join(thread_start(free_in_thread, launder(neighbours[5])));
    neighbours[5] = NULL;
    free_neighbours();
    allocate_neighbours(64);
    return 0;
}
