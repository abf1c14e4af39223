/* Asks for the size of a static variable. */
#include "misuse.h"

static char variable[64];

int main(void) {
    return malloc_usable_size(launder(variable)) > 0 ? 0 : 2;
}
