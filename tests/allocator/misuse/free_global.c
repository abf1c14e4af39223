/* Frees a static variable. */
#include "misuse.h"

static char variable[64];

int main(void) {
    free(launder(variable));
    return 0;
}
