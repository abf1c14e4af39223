/* hakmem: a malloc replacement that is compiled for a workload.
 *
 * Preloaded or linked, libhakmem replaces libc's allocation functions and C++'s operator new and
 * delete. The same functions are there under hak_ names, for programs that want to call this
 * allocator beside libc's; a library built with HAKMEM_REPLACE=OFF has the hak_ names alone.
 *
 * Threads: every function may be called from any thread at any time, also before main, in atexit
 * handlers and in thread destructors. Blocks may be freed by any thread. After fork the child may
 * use all of it. Not async-signal-safe, like every malloc.
 * Ownership: blocks belong to the caller until they are freed with hak_free or libc's free, which
 * are the same function in a replacing build.
 * Errors: functions that return NULL set errno to ENOMEM (or EINVAL where it says so). Sizes above
 * PTRDIFF_MAX are refused. Freeing a pointer that no allocation returned, or twice, ends the
 * program: one line on stderr names what, the function and the address.
 * Alignment: every block is aligned to 16 bytes. */
#ifndef HAKMEM_H
#define HAKMEM_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- libc's family; behaviour as in glibc where the standard leaves room ---- */

void *hak_malloc(size_t size); /* size 0: a block of its own, to be freed */
void *hak_calloc(size_t count, size_t size);
void *hak_realloc(void *block, size_t size); /* size 0 with a block: frees it, returns NULL */
void *hak_reallocarray(void *block, size_t count, size_t size);
void hak_free(void *block);                    /* NULL is allowed; errno is kept */
void hak_free_sized(void *block, size_t size); /* C23 */
void hak_free_aligned_sized(void *block, size_t alignment, size_t size);

/* Returns 0, EINVAL (alignment not a power of two times sizeof(void *)) or ENOMEM; errno and, on
 * error, *out are left alone. */
int hak_posix_memalign(void **out, size_t alignment, size_t size);
void *hak_aligned_alloc(size_t alignment, size_t size); /* EINVAL: not a power of two */
void *hak_memalign(size_t alignment, size_t size);      /* rounds alignment up to a power of two */
void *hak_valloc(size_t size);                          /* aligned to a page of the system */
void *hak_pvalloc(size_t size);                         /* and rounded up to one */

/* Bytes that may be used in a block: at least what was asked for. 0 for NULL. */
size_t hak_malloc_usable_size(const void *block);

/* Bytes that a request of `size` takes up in any case: a program that asks for so many can use them
 * all. 0 above PTRDIFF_MAX. As jemalloc's nallocx without flags, and macOS' malloc_good_size. */
size_t hak_good_size(size_t size);

/* Makes a block larger where it lies; it is never moved, and never shrunk. Returns the bytes that
 * it has then, all of which may be used; where these are fewer than `size`, nothing happened. 0 for
 * NULL. Only blocks above 64 KiB grow, and none in the guard and research builds. errno is kept.
 * By one thread at a time for each block, as realloc. As jemalloc's xallocx without flags. */
size_t hak_resize_in_place(void *block, size_t size);

/* ---- C++: operator new with a hint, as LLVM's MemProf passes it ----
 *
 * All forms that take a __hot_cold_t, and __size_returning_new_hot_cold: the hint is a byte, of
 * which 0 is the coldest and 255 the hottest. Below 128 a block is cold, as LLVM and tcmalloc have
 * it, and lies in a slab that has cold blocks alone. No effect above 2048 bytes, in the guard and
 * research builds, or while mallocs are counted: docs/install.md. Frees are the usual ones. */

/* ---- information; approximate while other threads allocate ---- */

struct mallinfo;
struct mallinfo2;

typedef struct hak_usage {
    size_t reserved;  /* addresses set apart, in bytes */
    size_t committed; /* bytes of segments that were ever used */
    size_t used;      /* bytes of blocks that the program has: live_bytes in JSON */
    size_t large;     /* those among them of more than 64 KiB */
    size_t free;      /* bytes in free blocks and free pages that the system still backs */
    size_t blocks;    /* blocks that the program has: live_blocks in JSON */
    size_t heaps;     /* threads' heaps, idle ones included */
} hak_usage;

void hak_get_usage(hak_usage *usage);

/* Without <malloc.h> clang would warn C++ programs: it knows neither structure. */
#if defined(__cplusplus) && defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
struct mallinfo2 hak_mallinfo2(void); /* both structures: glibc's <malloc.h> */
struct mallinfo hak_mallinfo(void);   /* figures above INT_MAX are given as INT_MAX */
#if defined(__cplusplus) && defined(__clang__)
#pragma clang diagnostic pop
#endif
int hak_mallopt(int parameter, int value); /* 1, or 0 where it means nothing: docs/limits.md */
int hak_malloc_trim(size_t keep); /* hak_purge; 1 when memory was given back; keep: ignored */
void hak_malloc_stats(void);      /* prints usage and events to stderr */
int hak_malloc_info(int options,
                    FILE *stream); /* the same as XML; 0, or EINVAL: options is not 0 */

/* The same and more as text: JSON, or what Prometheus reads (docs/statistics.md says what each
 * figure means). As snprintf: at most `size` bytes are written, the last of them a NUL; returns the
 * length that all of the text has without it. When that is not below `size`, the text was cut: ask
 * again with more room, for it may be longer by then. NULL is allowed where `size` is 0.
 * Any thread. Nothing is allocated, errno is kept, and no lock is taken but the loader's, for the
 * build-id; some 16 KiB of stack. It cannot fail. Cost: about a microsecond for each 2 MiB that the
 * program uses. Other threads go on meanwhile, so figures fit each other only while they rest. */
size_t hak_stats_json(char *buffer, size_t size);
size_t hak_stats_prometheus(char *buffer, size_t size);

/* ---- heap profiles: docs/heap-profiles.md ---- */

/* Counts what is asked for, one sample for each `rate` bytes in the mean (0: 524,288), or with
 * another rate from now on. Returns 0, ENOMEM or ENOTSUP (guard and hardened). Threads begin when
 * they next come to a slow path. Never stops by itself. */
int hak_profile_start(size_t rate);
/* What lives stays known, so that a later profile can tell of it. */
void hak_profile_stop(void);
/* Writes a profile, which pprof reads, to a file that only its owner may read; replaces an older
 * one when it is whole. Returns 0, EINVAL (never started) or the errno of the system. Allocates
 * nothing. */
int hak_profile_dump(const char *path);

/* ---- memory and checks ---- */

/* Empties the calling thread's magazines and gives all free pages of the process back to the
 * system. Returns the bytes given back. */
size_t hak_purge(void);

/* Checks the invariants of the calling thread's heap and of the page tables; other threads may go
 * on allocating. Returns 1 when all hold, 0 when memory is corrupt. Slow. */
int hak_validate(void);

/* ---- options: docs/options.md ---- */

/* A program may define this string, and so bring options of its own: names in lower case without
 * HAKMEM_, and the environment overrides it. A program that links no libhakmem.so, but is run with
 * it preloaded, has to export the symbol (-rdynamic).
 *
 *   const char hakmem_conf[] = "purge_delay=100,huge_pages=1"; */
extern const char hakmem_conf[];

/* Changes an option while the program runs: hak_policy_set("purge_delay", "100"). Returns 0, or
 * ENOENT: there is no such option; EINVAL: it cannot have this value; EPERM: it counts at the start
 * alone. errno is kept. */
int hak_policy_set(const char *name, const char *value);

/* The value in force. Returns 0 or ENOENT. */
int hak_policy_get(const char *name, size_t *value);

/* The version, "major.minor.patch". Static storage. */
const char *hak_version(void);

#ifdef __cplusplus
}
#endif
#endif
