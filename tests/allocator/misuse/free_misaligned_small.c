/* Frees a small block's second byte, and nothing else of its size. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1000));
    free(block + 1);
    return 0;
}
