/* Pointers from one thread to one other, in order. Both ends work in batches, so that the channel
 * itself costs next to nothing: one release store and one acquire load for CHANNEL_BATCH blocks. */
#ifndef BENCH_CHANNEL_H
#define BENCH_CHANNEL_H

#include "bench.h"

#include <sched.h>
#include <stdatomic.h>

enum { CHANNEL_BATCH = 32, CHANNEL_BATCHES = 32, CHANNEL_SPINS = 2000 };

typedef struct channel {
    _Alignas(128) _Atomic uint64_t written; /* batches */
    _Alignas(128) _Atomic uint64_t read;
    _Alignas(128) void *blocks[CHANNEL_BATCHES][CHANNEL_BATCH];
} channel;

BENCH_INLINE void channel_pause(uint32_t *spins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (++*spins % CHANNEL_SPINS == 0)
        sched_yield();
}

BENCH_INLINE bool channel_has_room(const channel *self) {
    return atomic_load_explicit(&self->written, memory_order_relaxed) -
               atomic_load_explicit(&self->read, memory_order_acquire) <
           CHANNEL_BATCHES;
}

BENCH_INLINE bool channel_has_batch(const channel *self) {
    return atomic_load_explicit(&self->written, memory_order_acquire) !=
           atomic_load_explicit(&self->read, memory_order_relaxed);
}

/* The batch to fill, and the batch to empty; the other end sees it after the matching _done. */
BENCH_INLINE void **channel_next_written(channel *self) {
    return self
        ->blocks[atomic_load_explicit(&self->written, memory_order_relaxed) % CHANNEL_BATCHES];
}

BENCH_INLINE void **channel_next_read(channel *self) {
    return self->blocks[atomic_load_explicit(&self->read, memory_order_relaxed) % CHANNEL_BATCHES];
}

BENCH_INLINE void channel_written_done(channel *self) {
    uint64_t written = atomic_load_explicit(&self->written, memory_order_relaxed);
    atomic_store_explicit(&self->written, written + 1, memory_order_release);
}

BENCH_INLINE void channel_read_done(channel *self) {
    uint64_t read = atomic_load_explicit(&self->read, memory_order_relaxed);
    atomic_store_explicit(&self->read, read + 1, memory_order_release);
}

#endif
