/* Writes the bytes in front of some blocks: the last ones of their neighbours. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(128);
    for (int i = 1000; i < 1100; i++)
        ((char *)launder(neighbours[i]))[-1] ^= 1;
    free_neighbours();
    return 0;
}
