/* libc's names. C++'s operators come through them as well. */
#include "next.h"
#include "recorder.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default"), hot))
#define CALLER __builtin_return_address(0)

enum { SITE_CACHE = 256 };
static RECORDER_TLS struct {
    const void *address;
    uint32_t site;
} site_cache[SITE_CACHE];

static RECORDER_TLS bool searching;

/* False while next_find itself allocates. */
static __attribute__((noinline)) bool find_next(void) {
    if (searching)
        return false;
    searching = true;
    next_find();
    searching = false;
    return true;
}

TRACE_INLINE bool ready(void) {
    return __builtin_expect(recorder_next.malloc != NULL, 1) || find_next();
}

static uint32_t site_of(const void *address) {
    size_t at = ((uintptr_t)address >> 2) % SITE_CACHE;
    if (site_cache[at].address != address) {
        site_cache[at].site = recorder_site(address);
        site_cache[at].address = address;
    }
    return site_cache[at].site;
}

TRACE_INLINE const uint32_t *site_for(const void *caller, uint32_t *site) {
    if (!recorder_wishes.sites)
        return NULL;
    *site = site_of(caller);
    return site;
}

TRACE_INLINE void note_left_out(void) {
    recorder_thread *thread = recorder_self.thread;
    if (thread != NULL)
        thread->left_out++;
}

TRACE_INLINE uint64_t stamp_for(const recorder_thread *thread, const void *block) {
    return recorder_stamp(recorder_now, thread, thread->to.stamp, (uintptr_t)block);
}

/* Returns the block, so that a caller's last act is to call it. */
static __attribute__((noinline)) void *note_any_block(trace_kind kind, void *block, size_t size,
                                                      unsigned align, const void *caller) {
    if (block == NULL)
        return NULL;
    if (!recorder_samples((uintptr_t)block)) {
        note_left_out();
        return block;
    }
    recorder_thread *thread = recorder_room();
    if (thread == NULL)
        return block;
    uint32_t site;
    trace_encode_block(&thread->to, kind, stamp_for(thread, block), (uintptr_t)block, size, align,
                       site_for(caller, &site));
    recorder_done(thread);
    return block;
}

TRACE_INLINE void *note_block(trace_kind kind, void *block, size_t size, unsigned align,
                              const void *caller) {
    recorder_thread *thread = recorder_usual((uintptr_t)block);
    if (RECORDER_UNLIKELY(thread == NULL || block == NULL))
        return note_any_block(kind, block, size, align, caller);
    trace_encode_block(&thread->to, kind, thread->to.stamp + 1, (uintptr_t)block, size, align,
                       NULL);
    thread->events++;
    return block;
}

static __attribute__((noinline)) void note_any_free(const void *block) {
    if (!recorder_samples((uintptr_t)block)) {
        note_left_out();
        return;
    }
    recorder_thread *thread = recorder_room();
    if (thread == NULL)
        return;
    trace_encode_free(&thread->to, stamp_for(thread, block), (uintptr_t)block);
    recorder_done(thread);
}

TRACE_INLINE bool note_usual_free(const void *block) {
    recorder_thread *thread = recorder_usual((uintptr_t)block);
    if (RECORDER_UNLIKELY(thread == NULL))
        return false;
    trace_encode_free(&thread->to, thread->to.stamp + 1, (uintptr_t)block);
    thread->events++;
    return true;
}

/* `before` is a stamp from before the call; 0: there was no room then. */
static void note_move(uint64_t before, uintptr_t from, const void *to, size_t size,
                      const void *caller) {
    recorder_thread *thread = recorder_room();
    if (thread == NULL)
        return;
    uint32_t site;
    const uint32_t *where = site_for(caller, &site);
    if (from == (uintptr_t)to)
        trace_encode_block(&thread->to, TRACE_REALLOC, before, from, size, 0, where);
    else
        trace_encode_move(&thread->to, before, from,
                          recorder_stamp(recorder_now, thread, before, (uintptr_t)to),
                          (uintptr_t)to, size, where);
    recorder_done(thread);
}

enum { TIMED = 8, ROUNDS = 8, PAIRS = 16 };

/* Sizes and addresses of many widths, as programs have them: with regular ones the processor would
 * guess every branch. */
static uint64_t time_some_ns(recorder_thread *fake, unsigned char *scratch, uint64_t *random) {
    uint64_t began = recorder_clock_ns();
    for (int round = 0; round < ROUNDS; round++) {
        fake->to.at = scratch;
        for (int i = 0; i < PAIRS; i++) {
            *random = *random * 6364136223846793005u + 1442695040888963407u;
            note_block(TRACE_MALLOC, (void *)(*random >> 44 << 4 | 16), *random >> 32 & 0x3ff, 0,
                       scratch);
            const void *other = (void *)(*random >> 36 << 4 & 0xfffff0);
            if (!note_usual_free(other))
                note_any_free(other);
        }
    }
    return recorder_clock_ns() - began;
}

/* The shortest of several times: another one may have other programs in it, on a busy machine for
 * milliseconds. Before the process has its file, so that the stamps used up are nobody's. */
uint64_t recorder_event_cost_ps(void) {
    unsigned char scratch[4 * PAIRS * TRACE_RECORD_MAX];
    recorder_thread fake = {0}, *kept = recorder_self.thread;
    uint64_t random = 1, least_ns = UINT64_MAX;
    recorder_set_limit(&fake, scratch + sizeof scratch);
    recorder_self.thread = &fake;
    for (int i = 0; i < TIMED; i++) {
        uint64_t took_ns = time_some_ns(&fake, scratch, &random);
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    recorder_self.thread = kept;
    atomic_store(&recorder_now->stamp, TRACE_BATCH);
    return least_ns * 1000 / (2 * ROUNDS * PAIRS);
}

EXPORT void *malloc(size_t size) {
    if (!ready())
        return next_early_allocate(size);
    return note_block(TRACE_MALLOC, recorder_next.malloc(size), size, 0, CALLER);
}

EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!ready())
        return next_early_allocate(bytes);
    return note_block(TRACE_CALLOC, recorder_next.calloc(count, size), bytes, 0, CALLER);
}

static __attribute__((noinline)) void free_any(void *block) {
    if (!ready())
        return;
    note_any_free(block);
    recorder_next.free(block);
}

EXPORT void free(void *block) {
    if (RECORDER_UNLIKELY(next_is_early(block)))
        return;
    if (note_usual_free(block))
        recorder_next.free(block);
    else
        free_any(block);
}

static void *leave_early(void *block, size_t size) {
    size_t old;
    memcpy(&old, (unsigned char *)block - 16, sizeof old);
    void *moved = ready() ? recorder_next.malloc(size) : next_early_allocate(size);
    if (moved != NULL)
        memcpy(moved, block, old < size ? old : size);
    return moved;
}

static void *resize(void *block, size_t size, const void *caller) {
    bool sampled = recorder_samples((uintptr_t)block);
    recorder_thread *thread = sampled ? recorder_room() : NULL;
    uintptr_t from = (uintptr_t)block;
    uint64_t before = thread ? stamp_for(thread, block) : 0;
    void *moved = recorder_next.realloc(block, size);
    if (moved == NULL) {
        if (thread != NULL)
            recorder_touch(recorder_now, 0, from);
        return NULL;
    }
    if (thread != NULL && recorder_samples((uintptr_t)moved)) {
        note_move(before, from, moved, size, caller);
    } else {
        if (thread != NULL) { /* from an address that is sampled to one that is not */
            trace_encode_free(&thread->to, before, from);
            recorder_done(thread);
        }
        if (!sampled)
            note_any_block(TRACE_MALLOC, moved, size, 0, caller);
    }
    return moved;
}

static void *reallocate(void *block, size_t size, const void *caller) {
    if (next_is_early(block))
        return leave_early(block, size);
    if (!ready())
        return block == NULL ? next_early_allocate(size) : NULL;
    if (block == NULL)
        return note_block(TRACE_MALLOC, recorder_next.realloc(NULL, size), size, 0, caller);
    if (size == 0) { /* frees, in libc and in hakmem */
        note_any_free(block);
        return recorder_next.realloc(block, 0);
    }
    return resize(block, size, caller);
}

EXPORT void *realloc(void *block, size_t size) {
    return reallocate(block, size, CALLER);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, bytes, CALLER);
}

static void *note_aligned(void *block, size_t align, size_t size, const void *caller) {
    unsigned log2 = align > 1 ? 64u - (unsigned)__builtin_clzll(align - 1) : 0;
    return note_any_block(TRACE_ALIGNED, block, size, log2, caller);
}

EXPORT void *memalign(size_t align, size_t size) {
    return ready() ? note_aligned(recorder_next.memalign(align, size), align, size, CALLER) : NULL;
}

EXPORT void *aligned_alloc(size_t align, size_t size) {
    return ready() ? note_aligned(recorder_next.aligned_alloc(align, size), align, size, CALLER)
                   : NULL;
}

EXPORT int posix_memalign(void **result, size_t align, size_t size) {
    int error = ready() ? recorder_next.posix_memalign(result, align, size) : ENOMEM;
    if (error == 0)
        note_aligned(*result, align, size, CALLER);
    return error;
}

EXPORT void *valloc(size_t size) {
    return ready() ? note_aligned(recorder_next.valloc(size), 4096, size, CALLER) : NULL;
}

EXPORT void *pvalloc(size_t size) {
    return ready() ? note_aligned(recorder_next.pvalloc(size), 4096, size, CALLER) : NULL;
}
