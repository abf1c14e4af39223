/* Writes a MiB behind a small block. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(100));
    flip(block + 100, 1 << 20);
    free(block);
    return 0;
}
