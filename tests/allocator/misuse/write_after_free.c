/* Writes to a small block right after its free, and nothing else happens. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(100));
    free(block);
    block[50] ^= 1;
    return 0;
}
