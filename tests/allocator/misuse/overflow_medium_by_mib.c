/* Writes a MiB behind a block of some pages. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(50000));
    flip(block + 50000, 1 << 20);
    free(block);
    return 0;
}
