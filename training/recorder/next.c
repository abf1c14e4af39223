#include "next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

next_allocator recorder_next;

/* dlsym may allocate while it looks for malloc. These blocks are zero and never used again. */
_Alignas(16) unsigned char next_early[NEXT_EARLY_BYTES];
static _Atomic size_t early_used;

void *next_early_allocate(size_t size) {
    size_t rounded = (size + 31) & ~(size_t)15; /* 16 bytes in front keep the size */
    if (size > sizeof next_early)
        return NULL;
    size_t at = atomic_fetch_add(&early_used, rounded);
    if (at + rounded > sizeof next_early)
        return NULL;
    memcpy(next_early + at, &size, sizeof size);
    return next_early + at + 16;
}

/* malloc last: a search that has come to its end is seen by malloc being there. */
void next_find(void) {
    next_allocator found;
    *(void **)&found.free = dlsym(RTLD_NEXT, "free");
    *(void **)&found.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&found.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&found.memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&found.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&found.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&found.valloc = dlsym(RTLD_NEXT, "valloc");
    *(void **)&found.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    *(void **)&found.malloc = dlsym(RTLD_NEXT, "malloc");
    recorder_next = found;
}
