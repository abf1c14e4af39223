/* Reads from a small block after its free, where each block has pages of its own. */
#include "misuse.h"

#include <unistd.h>

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_PAGES", "1", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    char *block = launder(malloc(100));
    block[50] = 0;
    free(block);
    return *(volatile char *)&block[50];
}
