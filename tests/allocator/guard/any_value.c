/* Whatever one value a program fills too many bytes with, in front of a block or behind it: it ends
 * at the free. Children of one process try all values at one block, so one of them is its canary.
 */
#include <string.h>

#include "../misuse/misuse.h"
#include "../support/check.h"
#include "../support/overrun.h"

enum { SIZE = 100, TOO_MANY = 12 };

int main(void) {
    char *block = launder(malloc(SIZE));
    CHECK(block != NULL);
    for (int value = 0; value < 256; value++) {
        overrun_must_end(block, value, SIZE, TOO_MANY);
        overrun_must_end(block, value, -TOO_MANY, TOO_MANY);
    }
    free(block);
    return 0;
}
