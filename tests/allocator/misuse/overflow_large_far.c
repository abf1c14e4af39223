/* Writes some pages behind a large block. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1 << 20));
    block[(1 << 20) + 20000] ^= 1;
    free(block);
    return 0;
}
