/* Frees a large block twice that waits in the cache of its thread. */
#include "misuse.h"

int main(void) {
    void *block = malloc(1 << 20), *other = malloc(1 << 20);
    free(launder(block));
    free(launder(other));
    free(launder(block));
    return 0;
}
