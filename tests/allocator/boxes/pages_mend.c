/* A thread is stopped at every instruction while it holds a lock, or has pages in hand that are
 * nobody's, and another thread forks there: what the child inherited must be whole, and it must be
 * able to use and free it, to allocate all kinds of blocks and to give all of it back. */
#include "pages/segment.h"

#include "bin/give.h"
#include "heap/heap.h"
#include "pages/excess.h"
#include "pages/run_cache.h"
#include "reclaim/purge.h"
#include "slab/slab.h"
#include "thread/thread.h"
#include "front/usage.h"
#include "front/core.h"
#include "os/lock.h"
#include "pages/range.h"
#include "pages/spare.h"

#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/hak_names.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

#ifdef __x86_64__

enum {
    BLOCKS = 60,
    PART = 200,
    LARGE = 70000,
    HUGE = 9 << 20,
    HUGE_BLOCKS = 18,
    MINUTE = 60,
    STOPS = 40
};

static sem_t wanted, served;
static size_t steps, stride, forks;
static bool everywhere; /* stop without a lock, too */
static struct {
    bool is_rest;         /* nobody works just now: how many pages does a child use at its end? */
    size_t at_rest, most; /* so many, and so many at most */
} *pages;                 /* in memory that children share */

/* What the thread does that is stopped; what it may have taken or given when it is, in pages. */
typedef struct {
    const char *name;
    void (*prepare)(void), (*act)(void), (*tidy)(void);
    size_t in_flight;
    bool everywhere;
} Act;

static const Act *current;

/* ---- the child ---- */

typedef struct {
    size_t size;
    char *block;
} Block;

static Block inherited[BLOCKS], own[BLOCKS];

static size_t size_of(size_t i) {
    static const size_t sizes[] = {24, 200, 1000, 3000, 9000, 40000, LARGE, 6 * LARGE};
    return i % 50 == 0 ? (size_t)HUGE : sizes[i % 8] + i;
}

/* Both ends of large ones. */
static void mark(const Block *b, uint64_t seed) {
    size_t part = b->size < PART ? b->size : PART;
    pattern_fill(b->block, part, seed);
    pattern_fill(b->block + b->size - part, part, seed);
}

static bool is_marked(const Block *b, uint64_t seed) {
    size_t part = b->size < PART ? b->size : PART;
    return (b->size < 2 * PART || pattern_holds(b->block, part, seed)) &&
           pattern_holds(b->block + b->size - part, part, seed);
}

static void fill(Block *blocks, uint64_t seed, size_t from, size_t step) {
    for (size_t i = from; i < BLOCKS; i += step) {
        blocks[i] = (Block){size_of(i), malloc(size_of(i))};
        CHECK(blocks[i].block);
        mark(&blocks[i], seed + i);
    }
}

static void check_and_free(Block *blocks, uint64_t seed, size_t from, size_t step) {
    for (size_t i = from; i < BLOCKS; i += step) {
        CHECK_THAT(is_marked(&blocks[i], seed + i), "block %zu", i);
        free(blocks[i].block);
    }
}

static void zeroed_is_zero(void) {
    for (size_t size = LARGE; size < HUGE * 2; size *= 4) {
        char *block = calloc(size, 1);
        CHECK(block && all_zero(block, PART) && all_zero(block + size - PART, PART));
        free(block);
    }
}

static size_t pages_in_use(void) {
    hak_spare_release();
    hak_purge_all(hak_heap_self());
    return hak_pages_used();
}

static void *allocate_a_little(void *unused) {
    for (size_t size = 10; size < LARGE; size *= 3)
        free(memset(malloc(size), 1, size));
    return unused;
}

/* Heaps without a thread are for one each. */
static void use_heaps(void) {
    enum { SOME = 5 };
    hak_heap *heaps[SOME];
    for (size_t i = 0; i < SOME; i++) {
        heaps[i] = hak_heap_obtain();
        CHECK(heaps[i] && heaps[i] != hak_heap_self());
        for (size_t j = 0; j < i; j++)
            CHECK(heaps[i] != heaps[j]);
        void *slots[3];
        CHECK(hak_slab_take(heaps[i], hak_heap_slab(heaps[i], 30), slots, 3) == 3);
        for (size_t j = 0; j < 3; j++)
            hak_slab_put(heaps[i], hak_run_of(slots[j]), slots[j]);
    }
    for (size_t i = 0; i < SOME; i++)
        hak_heap_leave(heaps[i], false);
}

static void be_child(void) {
    hang_limit();
    CHECK(hak_usage_is_valid());
    check_and_free(inherited, 1, 0, 2);
    fill(own, 1000, 0, 1);
    check_and_free(inherited, 1, 1, 2);
    zeroed_is_zero();
    use_heaps();
    thread_join(thread_start(allocate_a_little, NULL));
    check_and_free(own, 1000, 0, 1);
    CHECK(hak_usage_is_valid());
    size_t now = pages_in_use();
    if (pages->is_rest)
        pages->at_rest = now;
    CHECK_THAT(now <= pages->at_rest + pages->most, "%s: %zu pages are used, %zu at rest",
               current->name, now, pages->at_rest);
    CHECK(hak_usage_is_valid());
    _exit(0);
}

/* ---- stepping ---- */

static void let_fork(void) {
    sem_post(&wanted);
    while (sem_wait(&served) != 0)
        continue;
}

static void on_step(int signal_number) {
    (void)signal_number;
    if ((hak_locks_held != 0 || everywhere) && ++steps % stride == 0)
        let_fork();
}

/* Sets or clears the flag that makes the processor trap behind each instruction. */
static void step(bool on) {
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static char *blocks[64];
static hak_heap *heap;

static void nothing(void) {}

static void take_small(void) {
    for (size_t i = 0; i < 32; i++)
        blocks[i] = malloc(size_of(3));
}
static void give_small(void) {
    hak_give_back(hak_heap_self(), hak_class_of(blocks[0]), (void **)blocks, 32);
    memset(blocks, 0, sizeof blocks);
}
static void take_slab(void) {
    blocks[0] = malloc(48);
    blocks[1] = malloc(15000);
}
static void free_first(void) {
    for (size_t i = 0; i < 64; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}
static void take_large(void) {
    blocks[0] = malloc(LARGE);
    blocks[1] = memalign(1 << 20, 3 * LARGE);
}
static void cache_large(void) {
    take_large();
    free_first();
}
static void empty_cache(void) {
    hak_run_cache_empty(hak_heap_self(), true);
}
static void grow_and_shrink(void) {
    blocks[0] = realloc(blocks[0], 2 * LARGE);
    blocks[0] = realloc(blocks[0], LARGE);
}
static void take_huge(void) {
    blocks[0] = malloc(HUGE);
}
static void use_huge(void) {
    take_huge();
    memset(blocks[0], 1, HUGE);
}
static void use_and_spare_huge(void) {
    use_huge();
    hak_spare_give(hak_run_of(blocks[0]), false, hak_excess_faults());
    blocks[0] = NULL;
}
static void take_many_huge(void) {
    for (size_t i = 0; i < HUGE_BLOCKS; i++)
        blocks[i] = malloc(HUGE + i * LARGE);
    for (size_t i = 2; i < HUGE_BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}
static void take_beyond(void) {
    blocks[0] = malloc((size_t)60 << 20);
}
static void scatter(void) {
    for (size_t i = 0; i < 12; i++)
        memset(blocks[i] = malloc(LARGE * (1 + i % 3)), 1, LARGE);
    for (size_t i = 0; i < 12; i += 2) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}
static void purge(void) {
    hak_purge_all(NULL);
}
static void obtain(void) {
    heap = hak_heap_obtain();
}
static void leave(void) {
    hak_heap_leave(heap, false);
}
static void leave_with_a_slab(void) {
    obtain();
    CHECK(hak_heap_slab(heap, 30));
    leave();
    obtain();
    hak_heap *other = heap;
    obtain();
    hak_heap_leave(other, false);
}
static void adopt(void) {
    hak_heap_slab(heap, 30);
}
static void leave_many(void) {
    hak_heap *all[3];
    for (size_t i = 0; i < 3; i++) {
        obtain();
        all[i] = heap;
        hak_heap_slab(heap, (unsigned)(30 + i));
    }
    for (size_t i = 0; i < 3; i++)
        hak_heap_leave(all[i], false);
}
static void borrow(void) {
    CHECK(hak_heap_borrow());
    hak_heap_return();
}

static const Act acts[] = {
    {"small blocks", nothing, take_small, free_first, 16, true},
    {"freeing small blocks", take_small, give_small, nothing, 16, true},
    {"new slabs", nothing, take_slab, free_first, 16, false},
    {"large blocks", nothing, take_large, free_first, 16, false},
    {"freeing large blocks", take_large, free_first, nothing, 16, true},
    {"large blocks again", cache_large, take_large, free_first, 16, true},
    {"giving large blocks back", cache_large, empty_cache, nothing, 16, false},
    {"longer and shorter", take_large, grow_and_shrink, free_first, 32, false},
    {"a huge block", nothing, take_huge, free_first, 512, false},
    {"freeing a huge block", use_huge, free_first, nothing, 512, false},
    {"more spare runs than are kept", take_many_huge, free_first, nothing, 512, false},
    {"purging a spare run", use_and_spare_huge, hak_spare_purge, nothing, 512, true},
    {"more than there was", nothing, take_beyond, free_first, 5000, false},
    {"purging", scatter, purge, free_first, 6, false}, /* a run on its way out of a cache */
    {"a new heap", nothing, obtain, nothing, 40, false},
    {"an idle heap", leave, obtain, nothing, 40, false},
    {"leaving a heap", nothing, leave, obtain, 40, false},
    {"adopting a slab", leave_with_a_slab, adopt, leave, 40, false},
    {"trimming idle heaps", leave_many, purge, nothing, 40, false},
    {"borrowing", nothing, borrow, nothing, 0, false},
};

/* Counts the places, or stops at some of them. */
static void act_once(size_t every) {
    stride = every;
    steps = 0;
    current->prepare();
    pages->is_rest = true;
    let_fork();
    pages->is_rest = false;
    step(true);
    current->act();
    step(false);
    current->tidy();
}

/* HAKMEM_TEST_STOPS=100000: at all of them, which takes an hour. */
static size_t most_stops(void) {
    const char *text = getenv("HAKMEM_TEST_STOPS");
    return text != NULL ? strtoul(text, NULL, 10) : STOPS;
}

static void *act_all(void *unused) {
    fill(inherited, 1, 1, 3);
    fill(inherited, 1, 2, 3);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        current = &acts[i];
        pages->most = current->in_flight;
        everywhere = current->everywhere;
        act_once(SIZE_MAX);
        CHECK_THAT(steps != 0, "%s: no place to stop", current->name);
        act_once(steps / most_stops() + 1);
    }
    current = NULL;
    sem_post(&wanted);
    return unused;
}

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0)
        be_child();
    child_must_succeed(child);
    forks++;
}

int main(void) {
    setenv("HAKMEM_PURGE_DELAY", "3600000", 1);
    pages = mmap(NULL, sizeof *pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(sem_init(&wanted, 0, 0) == 0 && sem_init(&served, 0, 0) == 0);
    CHECK(signal(SIGTRAP, on_step) != SIG_ERR);
    fill(inherited, 1, 0, 3);
    pthread_t actor = thread_start(act_all, NULL);
    for (;;) {
        while (sem_wait(&wanted) != 0)
            continue;
        if (current == NULL)
            break;
        fork_child();
        sem_post(&served);
    }
    thread_join(actor);
    check_and_free(inherited, 1, 0, 1);
    CHECK_THAT(forks >= STOPS, "%zu forks", forks);
    return 0;
}

#else

int main(void) {
    return SKIPPED;
}

#endif
