/* Frees an address inside a small block, and nothing else of its size. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1000));
    free(block + 16);
    return 0;
}
