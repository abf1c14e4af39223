/* Deletes an object as one of another alignment. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    DELETE_ALIGNED(launder(NEW_ALIGNED(100, 64)), 32);
    return 0;
}
