/* Frees a block of 1 GiB twice. */
#include "misuse.h"

int main(void) {
    void *block = malloc((size_t)1 << 30);
    free(launder(block));
    free(launder(block));
    return 0;
}
