/* Writes the byte in front of a large block that the program never frees. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(1 << 20));
    block[-1] ^= 1;
    return 0;
}
