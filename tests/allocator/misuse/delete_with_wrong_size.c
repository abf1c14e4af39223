/* Deletes an object as one of another size, as a base class without a virtual destructor does. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    DELETE_SIZED(launder(NEW(100)), 60);
    return 0;
}
