/* Gives free_aligned_sized another alignment than aligned_alloc. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    FREE_ALIGNED_SIZED(launder(aligned_alloc(64, 128)), 32, 128);
    return 0;
}
