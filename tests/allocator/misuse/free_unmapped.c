/* Frees an address where nothing is. */
#include "misuse.h"

int main(void) {
    free(launder((void *)(uintptr_t)0x10));
    return 0;
}
