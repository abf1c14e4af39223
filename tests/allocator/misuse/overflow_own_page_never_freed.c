/* Writes one byte behind a small block that the program never frees, where each block has pages of
 * its own. */
#include "misuse.h"

#include <unistd.h>

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_GUARD_PAGES", "1", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    char *block = launder(malloc(40));
    block[40] ^= 1;
    return 0;
}
