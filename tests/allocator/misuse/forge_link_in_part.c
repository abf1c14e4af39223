/* As forge_link, but of a word only the two bytes at the lowest addresses are written: as plain
 * addresses these would lead to the middle of another block. */
#include "../support/threads.h"
#include "misuse.h"

#include <unistd.h>

enum { FREED = 100, SIZE = 64, WORD = 8 };

static void *free_some(void *unused) {
    for (int i = 0; i < FREED; i++)
        free(neighbours[i]);
    return unused;
}

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_QUARANTINE", "0", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    allocate_neighbours(SIZE);
    thread_join(thread_start(free_some, NULL));
    for (int i = 0; i < FREED; i++) {
        unsigned char *block = launder(neighbours[i]);
        block[WORD] = (unsigned char)(block[WORD] + 16);
        block[WORD + 1] = (unsigned char)(block[WORD + 1] + 1);
    }
    allocate_neighbours(SIZE);
    return 0;
}
