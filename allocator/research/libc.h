/* libc's own allocator behind our names: HAKMEM_FORCE_LIBC=1. */
#pragma once

#include "base/attributes.h"

#include <stdatomic.h>
#include <stddef.h>

/* The functions of libc that the wrapper calls: X(type, name, parameters). */
#define HAK_LIBC_FUNCTIONS(X)                                                                      \
    X(void *, malloc, (size_t))                                                                    \
    X(void, free, (void *))                                                                        \
    X(void *, calloc, (size_t, size_t))                                                            \
    X(void *, realloc, (void *, size_t))                                                           \
    X(int, posix_memalign, (void **, size_t, size_t))                                              \
    X(void *, aligned_alloc, (size_t, size_t))                                                     \
    X(void *, memalign, (size_t, size_t))                                                          \
    X(size_t, malloc_usable_size, (void *))

typedef struct hak_libc {
#define HAK_LIBC_FIELD(type, name, parameters) type(*name) parameters;
    HAK_LIBC_FUNCTIONS(HAK_LIBC_FIELD)
#undef HAK_LIBC_FIELD
} hak_libc;

enum hak_server { HAK_SERVER_UNKNOWN, HAK_SERVER_CORE, HAK_SERVER_LIBC };

/* Who serves, as far as it is known; changes once, very early. */
extern HAK_HIDDEN _Atomic int hak_server;
extern HAK_HIDDEN hak_libc hak_libc_functions;

/* Reads the option and looks the functions up. NULL: the core serves, for now or for good. */
HAK_COLD const hak_libc *hak_libc_decide(void);

/* libc's functions when they are to serve, NULL when the core is. */
HAK_INLINE const hak_libc *hak_forced(void) {
    int server = atomic_load_explicit(&hak_server, memory_order_acquire);
    if (HAK_LIKELY(server == HAK_SERVER_CORE))
        return NULL;
    return server == HAK_SERVER_LIBC ? &hak_libc_functions : hak_libc_decide();
}
