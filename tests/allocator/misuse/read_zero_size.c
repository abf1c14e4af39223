/* Reads from a block of no bytes. */
#include "misuse.h"

int main(void) {
    return *(volatile char *)launder(malloc(0));
}
