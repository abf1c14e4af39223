/* C23's free_sized and free_aligned_sized. Debian's libc headers do not declare them: by dlsym. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/served.h"

static void (*free_with_size)(void *, size_t);
static void (*free_with_alignment)(void *, size_t, size_t);

static void blocks_are_really_freed(void) {
    /* 6 GB pass through: a free that does nothing would not come to the end of this. */
    for (int i = 0; i < 1500000; i++) {
        size_t size = (size_t)(i % 8000);
        void *block = malloc(size);
        CHECK(block);
        memset(block, 1, size < 16 ? size : 16);
        free_with_size(block, size);
    }
}

static void aligned_blocks_are_really_freed(void) {
    for (int i = 0; i < 200000; i++) {
        size_t alignment = (size_t)8 << (i % 10);
        size_t size = alignment * (size_t)(1 + i % 5);
        void *block = aligned_alloc(alignment, size);
        CHECK(block);
        free_with_alignment(block, alignment, size);
    }
}

static void null_is_ignored_and_errno_kept(void) {
    errno = EXDEV;
    free_with_size(NULL, 0);
    free_with_size(NULL, 100);
    free_with_alignment(NULL, 64, 64);
    free_with_size(malloc(100), 100);
    free_with_size(malloc(10 << 20), 10 << 20);
    free_with_alignment(aligned_alloc(4096, 8192), 4096, 8192);
    CHECK_THAT(errno == EXDEV, "errno is %d", errno);
}

int main(void) {
    void *sized = dlsym(RTLD_DEFAULT, "free_sized");
    void *aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    CHECK(sized && aligned);
    memcpy(&free_with_size, &sized, sizeof sized);
    memcpy(&free_with_alignment, &aligned, sizeof aligned);
    CHECK(strstr(served_by("free_sized"), expected_server()));
    null_is_ignored_and_errno_kept();
    blocks_are_really_freed();
    aligned_blocks_are_really_freed();
    return 0;
}
