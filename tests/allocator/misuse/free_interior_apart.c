/* Frees a pointer into a block of 1 GiB. */
#include "misuse.h"

int main(void) {
    char *block = malloc((size_t)1 << 30);
    free(launder(block + (3 << 20)));
    return 0;
}
