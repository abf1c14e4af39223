/* C17's aligned_alloc: an alignment that is no power of two is an error (glibc since 2.38); a size
 * that is no multiple of the alignment is accepted, as glibc does. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "../support/check.h"

static void crooked_alignments_are_errors(void) {
    static const volatile size_t bad[] = {0, 3, 12, 24, 100, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        CHECK_THAT(aligned_alloc(bad[i], 64) == NULL, "alignment %zu", bad[i]);
        CHECK_THAT(errno == EINVAL, "alignment %zu: errno %d", bad[i], errno);
    }
}

static void any_size_is_accepted(void) {
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t size = 0; size < 3 * alignment; size += alignment / 3 + 1) {
            void *block = aligned_alloc(alignment, size);
            CHECK_THAT(block && (uintptr_t)block % alignment == 0, "aligned_alloc(%zu, %zu)",
                       alignment, size);
            CHECK(malloc_usable_size(block) >= size);
            free(block);
        }
    }
}

int main(void) {
    crooked_alignments_are_errors();
    any_size_is_accepted();
    return 0;
}
