/* Writes what is there already, page by page from a block downward, until a page faults: one does
 * before the allocator's own memory begins. */
#include "misuse.h"

enum { STEP = 4096 };

int main(void) {
    uintptr_t block = (uintptr_t)launder(malloc(64));
    for (uintptr_t at = block - block % STEP;; at -= STEP) {
        volatile char *byte = (volatile char *)at;
        *byte = *byte;
    }
}
