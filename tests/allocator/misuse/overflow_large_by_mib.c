/* Writes a MiB behind a large block. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1 << 20));
    flip(block + (1 << 20), 1 << 20);
    free(block);
    return 0;
}
