/* Every name by which a program can reach the allocator, as libhakmem.so must define them. */
#ifndef HAKMEM_TESTS_FAMILY_H
#define HAKMEM_TESTS_FAMILY_H

#include <stddef.h>

static const char *const family_names[] = {
    /* C and POSIX, and what glibc adds */
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "free_sized",
    "free_aligned_sized", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc",
    "malloc_usable_size", "malloc_trim", "mallinfo", "mallinfo2", "malloc_info", "malloc_stats",
    "mallopt",
    /* the same by glibc's internal names, which glibc exports */
    "__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_free", "__libc_memalign",
    "__libc_valloc", "__libc_pvalloc", "__libc_mallinfo", "__libc_mallopt",
    /* operator new and new[]: plain, nothrow, aligned, aligned nothrow */
    "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    /* operator delete and delete[]: plain, sized, nothrow, aligned, aligned sized, aligned nothrow
     */
    "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t", "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t", NULL};

#endif
