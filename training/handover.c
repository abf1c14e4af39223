/* Messages between threads: producers fill messages and put them into a bounded queue, consumers
 * check and free them, so nearly every free is of another thread's block. Threads come and go in
 * waves, and each thread leaves a few blocks behind that only the next wave frees.
 *
 * The threads take turns, each until the queue stops it: so two runs do the same in the same order,
 * and a build that is trained twice is the same twice. */
#include "common/training.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_LENGTH = 256, WAVES = 25, LEFT_BEHIND = 16, MAX_THREADS = 256 };

typedef struct message {
    struct part *parts;
    uint64_t sum;
} message;

typedef struct part {
    struct part *next;
    size_t length;
    unsigned char bytes[];
} part;

static struct {
    message *items[QUEUE_LENGTH];
    size_t head, count;
} queue;

typedef struct worker {
    pthread_t thread;
    sem_t turn;
    bool done;
    void (*work)(struct worker *self);
    uint64_t rng;
    uint64_t messages;
    uint64_t sum; /* of what it consumed */
    part *left_behind;
} worker;

static sem_t end_of_turn;

static void wait_for(sem_t *what) {
    while (sem_wait(what) != 0)
        ;
}

static void end_turn(worker *self) {
    sem_post(&end_of_turn);
    wait_for(&self->turn);
}

static void put(worker *self, message *item) {
    while (queue.count == QUEUE_LENGTH)
        end_turn(self);
    queue.items[(queue.head + queue.count++) % QUEUE_LENGTH] = item;
}

static message *take(worker *self) {
    while (queue.count == 0)
        end_turn(self);
    message *item = queue.items[queue.head];
    queue.head = (queue.head + 1) % QUEUE_LENGTH;
    queue.count--;
    return item;
}

static part *make_part(uint64_t *rng, part *next) {
    size_t length = (size_t)training_size(rng, 8, 8192);
    part *self = training_need(malloc(sizeof *self + length));
    self->next = next;
    self->length = length;
    memset(self->bytes, (int)(length & 0xff), length);
    return self;
}

static uint64_t drop_parts(part *self) {
    uint64_t sum = 0;
    for (part *next; self; self = next) {
        next = self->next;
        if (self->bytes[self->length - 1] != (self->length & 0xff))
            training_fail("handover: a message changed on its way");
        sum += self->length;
        free(self);
    }
    return sum;
}

static void produce(worker *self) {
    for (uint64_t i = 0; i < self->messages; i++) {
        message *item = training_need(malloc(sizeof *item));
        *item = (message){0};
        for (uint64_t parts = 1 + training_below(&self->rng, 4); parts > 0; parts--) {
            item->parts = make_part(&self->rng, item->parts);
            item->sum += item->parts->length;
        }
        put(self, item);
    }
    for (int i = 0; i < LEFT_BEHIND; i++)
        self->left_behind = make_part(&self->rng, self->left_behind);
}

static void consume(worker *self) {
    self->sum += drop_parts(self->left_behind);
    self->left_behind = NULL;
    for (uint64_t i = 0; i < self->messages; i++) {
        message *item = take(self);
        uint64_t sum = item->sum;
        if (drop_parts(item->parts) != sum)
            training_fail("handover: a message lost a part");
        self->sum += sum;
        free(item);
    }
}

static void *run(void *argument) {
    worker *self = argument;
    wait_for(&self->turn);
    self->work(self);
    self->done = true;
    sem_post(&end_of_turn);
    return NULL;
}

static void start(worker *self, void (*work)(worker *), uint64_t messages) {
    self->messages = messages;
    self->work = work;
    self->done = false;
    if (sem_init(&self->turn, 0, 0) != 0 || pthread_create(&self->thread, NULL, run, self) != 0)
        training_fail("handover: cannot start a thread");
}

/* Returns whether that was its last turn: then the thread is gone. */
static bool give_turn(worker *self) {
    if (self->done)
        return false;
    sem_post(&self->turn);
    wait_for(&end_of_turn);
    if (self->done)
        pthread_join(self->thread, NULL);
    return self->done;
}

/* Each consumer also drops what the producer with its number left behind a wave ago. */
static void run_wave(worker *producers, worker *consumers, uint64_t pairs, uint64_t messages) {
    for (uint64_t i = 0; i < pairs; i++) {
        consumers[i].left_behind = producers[i].left_behind;
        producers[i].left_behind = NULL;
        start(&producers[i], produce, messages);
        start(&consumers[i], consume, messages);
    }
    for (uint64_t left = 2 * pairs; left > 0;)
        for (uint64_t i = 0; i < pairs; i++)
            left -= (uint64_t)give_turn(&producers[i]) + (uint64_t)give_turn(&consumers[i]);
}

int main(int argc, char **argv) {
    static worker producers[MAX_THREADS], consumers[MAX_THREADS];
    training_options options = {.ops = 400000, .seed = 1, .threads = 2};
    training_parse(argc, argv, &options,
                   "one message of one to four parts; --threads counts pairs of threads");
    if (sem_init(&end_of_turn, 0, 0) != 0)
        training_fail("handover: no semaphore");
    uint64_t per_wave = options.ops / (options.threads * WAVES) + 1, checksum = 0;
    for (uint64_t i = 0; i < options.threads; i++)
        producers[i].rng = training_seed(options.seed, i);
    for (int wave = 0; wave < WAVES; wave++)
        run_wave(producers, consumers, options.threads, per_wave);
    for (uint64_t i = 0; i < options.threads; i++)
        checksum += consumers[i].sum + drop_parts(producers[i].left_behind);
    return training_done("handover", per_wave * WAVES * options.threads, checksum);
}
