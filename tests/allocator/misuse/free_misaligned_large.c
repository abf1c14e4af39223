/* Frees a pointer a few bytes into a large block. */
#include "misuse.h"

int main(void) {
    char *block = malloc(1 << 20);
    free(launder(block + 16));
    return 0;
}
