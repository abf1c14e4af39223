/* What the structure of a thread's free blocks costs on this processor: the random row with the
 * allocator reduced to its hot path (size -> class by table, page -> class by table, pop, push),
 * and no other allocator. All lanes hand out the block freed last.
 *
 *   array   pointers: pop reads *top, push writes top[1]               allocator/hot/magazine.h
 *   hand    the same, with the newest block kept beside the top
 *   packed  the same, with the newest block and the count in one word  the same, HAK_HAND
 *   list    the link lies in the free block
 *   keyed   the same, encoded with a key and counted */
#include "common/bench.h"

#include <stdint.h>
#include <string.h>

enum { CLASSES = 66, MOST = 1024, DEPTH = 4096, PAGE_SHIFT = 16, PAGES = 32 };

typedef struct heap {
    void **top[CLASSES], **end[CLASSES], *hand[CLASSES], *list[CLASSES];
    uint64_t packed[CLASSES]; /* of 48 and 16 bits; its slots are counted from top[] */
    uint32_t room[CLASSES];
    uintptr_t key;
    uint8_t class_of[MOST / 16 + 1];
} heap;

static _Thread_local heap *self;
static uint8_t *class_of_page;
static char *blocks;

static bench_config config = {
    .ops = 20000000, .seed = 1, .threads = 1, .slots = 400, .min_size = 16, .max_size = MOST};
static uint64_t lane;

#define OF_SIZE(size) (self->class_of[((size) + 15) >> 4])
#define OF_BLOCK(block) (class_of_page[((const char *)(block) - blocks) >> PAGE_SHIFT])
#define LANE __attribute__((noinline)) static

LANE void *array_take(size_t size) {
    unsigned cls = OF_SIZE(size);
    void **top = self->top[cls], *block = *top;
    if (bench_unlikely(block == NULL))
        return NULL;
    self->top[cls] = top - 1;
    return block;
}

LANE void array_give(void *block) {
    unsigned cls = OF_BLOCK(block);
    void **top = self->top[cls];
    if (bench_unlikely(top == self->end[cls] || *top == block))
        bench_fail("full");
    top[1] = block;
    self->top[cls] = top + 1;
}

LANE void *hand_take(size_t size) {
    unsigned cls = OF_SIZE(size);
    void **top = self->top[cls], *next = top[-1], *block = self->hand[cls];
    if (bench_unlikely(next == NULL))
        return NULL;
    self->hand[cls] = next;
    self->top[cls] = top - 1;
    return block;
}

LANE void hand_give(void *block) {
    unsigned cls = OF_BLOCK(block);
    void **top = self->top[cls], *newest = self->hand[cls];
    if (bench_unlikely(top == self->end[cls] || newest == block))
        bench_fail("full");
    *top = newest;
    self->hand[cls] = block;
    self->top[cls] = top + 1;
}

LANE void *packed_take(size_t size) {
    unsigned cls = OF_SIZE(size);
    uint64_t word = self->packed[cls], below = (uint16_t)word - 1u;
    void *next = self->top[cls][below];
    if (bench_unlikely(next == NULL))
        return NULL;
    self->packed[cls] = (uint64_t)(uintptr_t)next << 16 | below;
    return (void *)(uintptr_t)(word >> 16);
}

LANE void packed_give(void *block) {
    unsigned cls = OF_BLOCK(block);
    uint64_t word = self->packed[cls], count = (uint16_t)word;
    void **slot = self->top[cls] + count, *newest = (void *)(uintptr_t)(word >> 16);
    if (bench_unlikely(slot == self->end[cls] || newest == block))
        bench_fail("full");
    *slot = newest;
    self->packed[cls] = (uint64_t)(uintptr_t)block << 16 | (count + 1);
}

LANE void *list_take(size_t size) {
    unsigned cls = OF_SIZE(size);
    void *block = self->list[cls];
    if (bench_unlikely(block == NULL))
        return NULL;
    memcpy(&self->list[cls], block, sizeof block);
    return block;
}

LANE void list_give(void *block) {
    unsigned cls = OF_BLOCK(block);
    memcpy(block, &self->list[cls], sizeof block);
    self->list[cls] = block;
}

LANE void *keyed_take(size_t size) {
    unsigned cls = OF_SIZE(size);
    void *block = self->list[cls];
    uintptr_t link;
    if (bench_unlikely(block == NULL))
        return NULL;
    memcpy(&link, block, sizeof link);
    self->list[cls] = (void *)(link ^ self->key);
    self->room[cls]++;
    return block;
}

LANE void keyed_give(void *block) {
    unsigned cls = OF_BLOCK(block);
    if (bench_unlikely(self->room[cls] == 0 || self->list[cls] == block))
        bench_fail("full");
    uintptr_t link = (uintptr_t)self->list[cls] ^ self->key;
    memcpy(block, &link, sizeof link);
    self->list[cls] = block;
    self->room[cls]--;
}

static const char *const lane_names[] = {"array", "hand", "packed", "list", "keyed", NULL};
static void *(*const takes[])(size_t) = {array_take, hand_take, packed_take, list_take, keyed_take};
static void (*const gives[])(void *) = {array_give, hand_give, packed_give, list_give, keyed_give};

static const bench_option options[] = {
    {.name = "lane",
     .kind = BENCH_CHOICE,
     .value = &lane,
     .choices = lane_names,
     .help = "how free blocks are kept"},
    {0},
};

/* ---- blocks to begin with: a class is a multiple of 16, and has two MiB ---- */

static void fill(heap *h, unsigned cls, void **slots) {
    size_t size = cls * 16u, count = config.slots < DEPTH / 2 ? config.slots : DEPTH / 2;
    h->top[cls] = slots + 1;
    h->end[cls] = slots + 1 + DEPTH;
    h->room[cls] = DEPTH;
    self = h;
    for (size_t i = 0; i <= count; i++)
        gives[lane](blocks + ((size_t)cls << (PAGE_SHIFT + 5)) + i * size);
}

static void prepare_heap(heap *h) {
    h->key = 0x5bd1e995a7c3;
    for (unsigned i = 0; i <= MOST / 16; i++)
        h->class_of[i] = (uint8_t)(i == 0 ? 1 : i);
    for (unsigned cls = 1; cls < CLASSES - 1; cls++) {
        memset(class_of_page + (size_t)cls * PAGES, (int)cls, PAGES);
        fill(h, cls, bench_table((DEPTH + 3) * sizeof(void *)));
    }
}

typedef struct {
    uint32_t *sizes, *which;
    void **live;
} work;

enum { PLANNED = 1 << 16 };

static void prepare(bench_worker *worker) {
    if (config.max_size > MOST || config.threads != 1)
        bench_fail("one thread, and blocks of at most %d bytes", MOST);
    blocks = bench_table((size_t)CLASSES << (PAGE_SHIFT + 5));
    class_of_page = bench_table((size_t)CLASSES * PAGES);
    prepare_heap(bench_table(sizeof(heap)));
    work *w = worker->state = bench_table(sizeof *w);
    w->sizes = bench_table(PLANNED * sizeof *w->sizes);
    w->which = bench_table(PLANNED * sizeof *w->which);
    w->live = bench_table(config.slots * sizeof *w->live);
    for (size_t i = 0; i < PLANNED; i++) {
        w->sizes[i] = (uint32_t)bench_random_in(&worker->rng, config.min_size, config.max_size);
        w->which[i] = (uint32_t)bench_random_in(&worker->rng, 0, config.slots - 1);
    }
    for (size_t i = 0; i < config.slots; i++)
        w->live[i] = takes[lane](w->sizes[i % PLANNED]);
}

void bench_measured(bench_worker *worker) {
    const work *w = worker->state;
    void *(*take)(size_t) = takes[lane];
    void (*give)(void *) = gives[lane];
    for (uint64_t i = 0; i < worker->ops; i++) {
        uint32_t size = w->sizes[i % PLANNED];
        void **slot = &w->live[w->which[i % PLANNED]];
        give(*slot);
        volatile unsigned char *block = *slot = take(size);
        if (bench_unlikely(block == NULL))
            bench_fail("no free block of %u bytes: fewer --slots", size);
        block[0] = 1;
        block[size - 1] = 1;
    }
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "lanes",
        .summary = "The random row on a bare structure of free blocks, to choose one by processor.",
        .operation = "one free and one malloc, first and last byte written",
        .config = &config,
        .uses = BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .prepare = prepare,
        .finish = NULL,
    };
    return bench_main(argc, argv, &spec);
}
