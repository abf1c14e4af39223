/* Frees an address far behind the last block, where the allocator has handed out nothing. */
#include "misuse.h"

int main(void) {
    uintptr_t block = (uintptr_t)malloc(100);
    free(launder((void *)(block + ((uintptr_t)512 << 20))));
    return 0;
}
