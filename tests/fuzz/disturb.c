/* Random schedules under ThreadSanitizer: before an atomic operation of the library a thread may
 * give way, or sleep for a while. The linker leads ThreadSanitizer's entries through here (--wrap),
 * so that the library is the one that the other tests use.
 *
 * DISTURB=<number>: the seed; nothing happens without. What comes out still depends on the system's
 * own schedule: a seed makes rare ones likely, and another one others. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../allocator/support/random.h"

enum { GIVE_WAY = 512, SLEEP = 2048, MOST_US = 200 }; /* one in so many operations */

static uint64_t seed;
static atomic_uint threads;
static _Thread_local Random own;

__attribute__((constructor)) static void read_seed(void) {
    const char *word = getenv("DISTURB");
    seed = word != NULL ? strtoull(word, NULL, 0) : 0;
}

static void disturb(void) {
    if (seed == 0)
        return;
    if (own.state == 0)
        own = random_from(seed * 1000 + atomic_fetch_add(&threads, 1) + 1);
    if (random_below(&own, SLEEP) == 0)
        usleep((useconds_t)random_below(&own, MOST_US));
    else if (random_below(&own, GIVE_WAY) == 0)
        sched_yield();
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real___tsan_atomic##name parameters;                                                    \
    type __wrap___tsan_atomic##name parameters;                                                    \
    type __wrap___tsan_atomic##name parameters {                                                   \
        disturb();                                                                                 \
        return __real___tsan_atomic##name arguments;                                               \
    }
#define WRAP_SIZE(bits)                                                                            \
    WRAP(uint##bits##_t, bits##_load, (const volatile void *p, int order), (p, order))             \
    WRAP(void, bits##_store, (volatile void *p, uint##bits##_t v, int order), (p, v, order))       \
    WRAP(uint##bits##_t, bits##_exchange, (volatile void *p, uint##bits##_t v, int order),         \
         (p, v, order))                                                                            \
    WRAP(uint##bits##_t, bits##_fetch_add, (volatile void *p, uint##bits##_t v, int order),        \
         (p, v, order))                                                                            \
    WRAP(uint##bits##_t, bits##_fetch_sub, (volatile void *p, uint##bits##_t v, int order),        \
         (p, v, order))                                                                            \
    WRAP(uint##bits##_t, bits##_compare_exchange_val,                                              \
         (volatile void *p, uint##bits##_t e, uint##bits##_t v, int order, int failed),            \
         (p, e, v, order, failed))                                                                 \
    WRAP(int, bits##_compare_exchange_strong,                                                      \
         (volatile void *p, void *e, uint##bits##_t v, int order, int failed),                     \
         (p, e, v, order, failed))                                                                 \
    WRAP(int, bits##_compare_exchange_weak,                                                        \
         (volatile void *p, void *e, uint##bits##_t v, int order, int failed),                     \
         (p, e, v, order, failed))
WRAP_SIZE(8)
WRAP_SIZE(32)
WRAP_SIZE(64)
