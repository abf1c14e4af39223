/* Frees the place of a block that no malloc has returned yet. */
#include "misuse.h"

enum { PAGE = 65536, BLOCK = 1024, NUMBER = 60 };

int main(void) {
    char *block = launder(malloc(BLOCK - 32));
    /* as far from the start of its block as the first one is */
    free(block - (uintptr_t)block % PAGE + NUMBER * BLOCK + (uintptr_t)block % BLOCK);
    malloc_trim(0);
    return 0;
}
