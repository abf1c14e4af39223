/* Grows a large block that was freed and waits in the cache of its thread. */
#include "misuse.h"

int main(void) {
    void *block = malloc(1 << 20);
    free(launder(block));
    return realloc(launder(block), 2 << 20) != NULL ? 0 : 2;
}
