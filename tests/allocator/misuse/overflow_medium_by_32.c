/* Writes the 32 bytes behind a block of some pages. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(50000));
    flip(block + 50000, 32);
    free(block);
    return 0;
}
