/* Writes to a large block by a pointer from before a realloc that asked for one byte more, where
 * each block has pages of its own. */
#include "misuse.h"

#include <unistd.h>

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_PAGES", "1", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    char *before = launder(malloc(200000));
    char *block = launder(realloc(launder(before), 200001));
    *(volatile char *)&before[10] = 1;
    free(block);
    return 0;
}
