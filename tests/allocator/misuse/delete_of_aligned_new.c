/* Deletes an over-aligned object by the plain operator. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    DELETE(launder(NEW_ALIGNED(100, 64)));
    return 0;
}
