/* Frees the last byte of a block that ends where a page of the heap does: its address ends in
 * 0xffff. */
#include "misuse.h"

enum { SIZE = 32768, LAST = 0xffff };

int main(void) {
    char *block = malloc(SIZE);
    for (int i = 0; i < 64 && (((uintptr_t)block + SIZE - 1) & LAST) != LAST; i++)
        block = malloc(SIZE);
    free(launder(block + SIZE - 1));
    return 0;
}
