/* Writes the 32 bytes behind a small block. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(100));
    flip(block + 100, 32);
    free(block);
    return 0;
}
