/* All frees come from another thread: producers fill a queue each, consumers empty them. What goes
 * round must be reused: the process may not grow with the number of blocks that pass. */
#include <pthread.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum {
    PAIRS = 2,
    CAPACITY = 512,
    WARM = 100000,
    BLOCKS = 700000 / TEST_SHARE,
    GROWTH_KIB = 24 * 1024
};

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t *queue[CAPACITY];
    unsigned head, tail;
    unsigned blocks;
    uint64_t seed;
} Channel;

static Channel channels[PAIRS];

static void put(Channel *channel, size_t *block) {
    pthread_mutex_lock(&channel->lock);
    while (channel->head - channel->tail == CAPACITY)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->queue[channel->head++ % CAPACITY] = block;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

static size_t *take(Channel *channel) {
    pthread_mutex_lock(&channel->lock);
    while (channel->head == channel->tail)
        pthread_cond_wait(&channel->changed, &channel->lock);
    size_t *block = channel->queue[channel->tail++ % CAPACITY];
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
    return block;
}

static void *produce(void *argument) {
    Channel *channel = argument;
    Random random = random_from(channel->seed++);
    for (unsigned i = 0; i < channel->blocks; i++) {
        size_t size = sizeof(size_t) + random_size(&random, i % 64 ? 9 : 14);
        size_t *block = malloc(size);
        CHECK(block);
        *block = size;
        pattern_mark(block + 1, size - sizeof size, size);
        put(channel, block);
    }
    return NULL;
}

static void *consume(void *argument) {
    Channel *channel = argument;
    for (unsigned i = 0; i < channel->blocks; i++) {
        size_t *block = take(channel);
        CHECK(pattern_marked(block + 1, *block - sizeof *block, *block));
        free(block);
    }
    return NULL;
}

static void pass(unsigned blocks) {
    pthread_t threads[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        channels[i].blocks = blocks;
        threads[2 * i] = thread_start(produce, &channels[i]);
        threads[2 * i + 1] = thread_start(consume, &channels[i]);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        thread_join(threads[i]);
}

int main(void) {
    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_init(&channels[i].lock, NULL);
        pthread_cond_init(&channels[i].changed, NULL);
        channels[i].seed = (uint64_t)i;
    }
    pass(WARM);
    size_t before = rss_kib();
    pass(BLOCKS);
    invariants_hold();
    CHECK_THAT(rss_kib() <= before + GROWTH_KIB, "RSS %zu -> %zu KiB", before, rss_kib());
    return 0;
}
