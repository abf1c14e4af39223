/* posix_memalign, aligned_alloc, memalign, valloc, pvalloc: results, errors, errno. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "limits.h"

static int is_aligned(const void *block, size_t alignment) {
    return block && (uintptr_t)block % alignment == 0;
}

static void posix_memalign_rejects_bad_alignments(void) {
    static const volatile size_t bad[] = {0, 1, 2, 4, 3, 7, 12, 24, 100, 4097, SIZE_MAX};
    char marker;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *out = &marker;
        errno = EXDEV;
        CHECK_THAT(posix_memalign(&out, bad[i], 64) == EINVAL, "alignment %zu", bad[i]);
        CHECK(out == &marker);
        CHECK(errno == EXDEV);
    }
}

static void posix_memalign_refuses_impossible_sizes(void) {
    char marker;
    for (size_t alignment = 8; alignment <= (size_t)4 << 20; alignment *= 4) {
        for (int i = 0; i < IMPOSSIBLE_COUNT; i++) {
            void *out = &marker;
            errno = EXDEV;
            CHECK(posix_memalign(&out, alignment, impossible_sizes[i]) == ENOMEM);
            CHECK(out == &marker);
            CHECK_THAT(errno == EXDEV, "posix_memalign set errno %d", errno);
        }
    }
    void *out = &marker;
    CHECK(posix_memalign(&out, (size_t)1 << 62, 64) == ENOMEM);
    CHECK(out == &marker);
}

static void zero_sizes_can_be_freed(void) {
    for (size_t alignment = 8; alignment <= (size_t)1 << 21; alignment *= 2) {
        void *out = NULL;
        CHECK(posix_memalign(&out, alignment, 0) == 0);
        CHECK(is_aligned(out, alignment));
        free(out);
        void *block = memalign(alignment, 0);
        CHECK(is_aligned(block, alignment));
        free(block);
    }
}

static void memalign_family_refuses_impossible_sizes(void) {
    for (int i = 0; i < IMPOSSIBLE_COUNT; i++) {
        size_t size = impossible_sizes[i];
        for (size_t alignment = 8; alignment <= (size_t)2 << 20; alignment *= 8) {
            errno = 0;
            CHECK_THAT(memalign(alignment, size) == NULL && errno == ENOMEM, "%zx", size);
            errno = 0;
            CHECK_THAT(aligned_alloc(alignment, size) == NULL && errno == ENOMEM, "%zx", size);
        }
        errno = 0;
        CHECK_THAT(valloc(size) == NULL && errno == ENOMEM, "valloc(%zx)", size);
        errno = 0;
        CHECK_THAT(pvalloc(size) == NULL && errno == ENOMEM, "pvalloc(%zx)", size);
    }
}

/* As glibc: memalign rounds a crooked alignment up to a power of two; what cannot be rounded up is
 * an error. */
static void memalign_rounds_crooked_alignments(void) {
    static const volatile size_t asked[] = {0, 1, 3, 24, 48, 100, 5000};
    static const size_t given[] = {1, 1, 4, 32, 64, 128, 8192};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        void *block = memalign(asked[i], 40);
        CHECK_THAT(is_aligned(block, given[i]), "alignment %zu", asked[i]);
        free(block);
    }
    static const volatile size_t beyond = SIZE_MAX / 2 + 2;
    errno = 0;
    CHECK(memalign(beyond, 8) == NULL);
    CHECK_THAT(errno == EINVAL, "errno %d", errno);
}

static void page_functions_give_pages(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t size = 0; size < 5 * page; size += 511) {
        void *block = valloc(size);
        CHECK(is_aligned(block, page));
        CHECK(malloc_usable_size(block) >= size);
        free(block);
        block = pvalloc(size);
        CHECK(is_aligned(block, page));
        CHECK(malloc_usable_size(block) >= (size + page - 1) / page * page);
        free(block);
    }
}

int main(void) {
    posix_memalign_rejects_bad_alignments();
    posix_memalign_refuses_impossible_sizes();
    zero_sizes_can_be_freed();
    memalign_family_refuses_impossible_sizes();
    memalign_rounds_crooked_alignments();
    page_functions_give_pages();
    return 0;
}
