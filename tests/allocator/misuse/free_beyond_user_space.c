/* Frees an address that no program can have. */
#include "misuse.h"

int main(void) {
    free(launder((void *)UINTPTR_MAX));
    return 0;
}
