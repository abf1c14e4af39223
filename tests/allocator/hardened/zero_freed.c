/* HAKMEM_ZERO_FREED=1: nothing of a block can be read once it was freed, however it was freed. The
 * first bytes may hold the library's own link to another block. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { LINK = 16, SECRET = 0xa5 };

static const size_t sizes[] = {17,    64,    100,   1000,   2048,    2049,   9000,
                               40000, 65536, 70000, 300000, 1 << 20, 5 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static char *secret_in(void *block, size_t size) {
    CHECK(block != NULL);
    return memset(block, SECRET, size);
}

/* The address of a block that is free: the compiler must not know whose it was. */
static void check_zero(uintptr_t freed, size_t size, const char *how) {
    const unsigned char *bytes = (const unsigned char *)freed;
    for (size_t i = LINK; i < size; i++)
        CHECK_THAT(bytes[i] == 0, "%s: byte %zu of %zu is %d", how, i, size, bytes[i]);
    for (size_t i = 0; i < LINK && i < size; i++)
        CHECK_THAT(bytes[i] != SECRET || bytes[i + 1] != SECRET, "%s: byte %zu of %zu", how, i,
                   size);
}

static void freed_here(size_t size) {
    char *block = secret_in(malloc(size), size);
    uintptr_t address = (uintptr_t)block;
    free(block);
    check_zero(address, size, "free");
}

/* The usable size is the program's, too. */
static void freed_whole(size_t size) {
    char *block = memalign(256, size);
    size_t usable = malloc_usable_size(block);
    uintptr_t address = (uintptr_t)secret_in(block, usable);
    free(block);
    check_zero(address, usable, "free of an aligned block");
}

static void moved(size_t size, size_t to, const char *how) {
    char *block = secret_in(malloc(size), size);
    uintptr_t address = (uintptr_t)block;
    char *other = realloc(block, to);
    CHECK(other != NULL && other[0] == (char)SECRET);
    CHECK(other[(to < size ? to : size) - 1] == (char)SECRET);
    if ((uintptr_t)other != address)
        check_zero(address, size, how);
    free(other);
}

static char *handed_over[SIZES];

static void *free_them(void *unused) {
    for (size_t i = 0; i < SIZES; i++)
        free(handed_over[i]);
    return unused;
}

static void freed_elsewhere(void) {
    uintptr_t addresses[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        handed_over[i] = secret_in(malloc(sizes[i]), sizes[i]);
        addresses[i] = (uintptr_t)handed_over[i];
    }
    thread_join(thread_start(free_them, NULL));
    for (size_t i = 0; i < SIZES; i++)
        check_zero(addresses[i], sizes[i], "free by another thread");
}

int main(void) {
    for (size_t i = 0; i < SIZES; i++) {
        freed_here(sizes[i]);
        freed_whole(sizes[i]);
        moved(sizes[i], 3 * sizes[i], "realloc to more");
        moved(sizes[i], sizes[i] / 3, "realloc to less");
    }
    freed_elsewhere();
    free(NULL);
    return 0;
}
