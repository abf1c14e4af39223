/* Preloaded in front of an allocator, into a program that runs under qemu: tells the plugin
 * (tracer.c) of each malloc and free. What calloc clears and realloc copies is done here, after the
 * plugin knows of the block: so it counts as the block's. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder.h"
#include "trace.h"

enum { IN_PLACE_BELOW = 65536 }; /* larger blocks are the allocator's to move: by pages, perhaps */

/* Where the linker has laid this library's own code: from its header to the end of its text. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static void *(*real_malloc)(size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static void (*real_free)(void *);

static void tell(long what, const void *block, size_t size, uintptr_t where) {
    int kept = errno;
    if (block != NULL)
        syscall(what, block, size, where);
    errno = kept;
}

static void child_is_silent(void) {
    tell(TELL_SILENCE, etext, 0, 0);
}

static void begin(void) {
    tell(TELL_IGNORE, __ehdr_start, (size_t)etext, 0);
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    pthread_atfork(NULL, NULL, child_is_silent);
}

void *recorder_take(size_t size, uintptr_t where) {
    if (real_malloc == NULL)
        begin();
    void *block = real_malloc(size);
    tell(TELL_ALLOCATED, block, size, where);
    return block;
}

void *malloc(size_t size) {
    return recorder_take(size, WHERE);
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = recorder_take(bytes, WHERE);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

void free(void *block) {
    if (block == NULL)
        return;
    tell(TELL_FREED, block, 0, 0);
    real_free(block);
}

static void *move_large(void *block, size_t size, uintptr_t where) {
    tell(TELL_FREED, block, 0, 0);
    void *moved = real_realloc(block, size);
    tell(TELL_ALLOCATED, moved, size, where);
    return moved;
}

void *realloc(void *block, size_t size) {
    size_t room = block == NULL ? 0 : malloc_usable_size(block);
    if (block != NULL && room > IN_PLACE_BELOW && size > IN_PLACE_BELOW)
        return move_large(block, size, WHERE);
    if (block != NULL && size <= room && size >= room / 2)
        return block;
    void *moved = recorder_take(size, WHERE);
    if (moved == NULL || block == NULL)
        return moved;
    memcpy(moved, block, size < room ? size : room);
    free(block);
    return moved;
}

void *recorder_take_aligned(size_t alignment, size_t size, uintptr_t where) {
    if (real_malloc == NULL)
        begin();
    void *block = real_memalign(alignment, size);
    tell(TELL_ALLOCATED, block, size, where);
    return block;
}

void *memalign(size_t alignment, size_t size) {
    return recorder_take_aligned(alignment, size, WHERE);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return recorder_take_aligned(alignment, size, WHERE);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = recorder_take_aligned(alignment, size, WHERE);
    return *block == NULL ? ENOMEM : 0;
}
