/* Frees a string constant. */
#include "misuse.h"

int main(void) {
    free(launder("a constant"));
    return 0;
}
