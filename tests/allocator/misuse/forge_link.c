/* Makes the links of blocks that another thread has freed lead to a block in use, so that the
 * allocator hands that one out again. The quarantine would notice the write: it is switched off. */
#include "../support/threads.h"
#include "misuse.h"

#include <unistd.h>

enum { FREED = 100 };

static void *free_some(void *unused) {
    for (int i = 0; i < FREED; i++)
        free(neighbours[i]);
    return unused;
}

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_QUARANTINE", "0", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    allocate_neighbours(64);
    thread_join(thread_start(free_some, NULL));
    for (int i = 0; i < FREED; i++)
        *(void **)launder(neighbours[i]) = neighbours[FREED];
    *(void **)neighbours[FREED] = NULL;
    allocate_neighbours(64);
    return 0;
}
