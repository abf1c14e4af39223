/* Writes to a block of no bytes. */
#include "misuse.h"

int main(void) {
    *(volatile char *)launder(malloc(0)) = 1;
    return 0;
}
