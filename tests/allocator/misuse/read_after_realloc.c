/* Reads by a pointer from before realloc, where each block has pages of its own. */
#include "misuse.h"

#include <unistd.h>

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_PAGES", "1", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    char *block = launder(calloc(1, 100));
    char *before = launder(block);
    block = launder(realloc(block, 101));
    char read = *(volatile char *)&before[10];
    free(block);
    return read;
}
