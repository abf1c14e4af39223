/* Blocks travel round a ring of threads; each thread grows, checks and passes on what it gets, and
 * frees what has come round. No thread frees only its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { THREADS = 6, MAILBOX = 256, ROUNDS = 120000 / TEST_SHARE, STATIONS = 2 * THREADS };

typedef struct {
    size_t size;
    unsigned stations;
    unsigned char body[];
} Parcel;

typedef struct {
    _Atomic(Parcel *) mailbox[MAILBOX];
    unsigned number;
} Station;

static Station stations[THREADS];

static Parcel *pack(Random *random) {
    size_t size = random_size(random, 11);
    Parcel *parcel = malloc(sizeof *parcel + size);
    CHECK(parcel);
    parcel->size = size;
    parcel->stations = 0;
    pattern_fill(parcel->body, size, size);
    return parcel;
}

/* The next state of a parcel: bigger by a few bytes, or NULL when its journey is over. */
static Parcel *forward(Parcel *parcel) {
    CHECK_THAT(pattern_holds(parcel->body, parcel->size, parcel->size), "parcel of %zu",
               parcel->size);
    if (++parcel->stations == STATIONS) {
        free(parcel);
        return NULL;
    }
    size_t size = parcel->size + 24;
    parcel = realloc(parcel, sizeof *parcel + size);
    CHECK(parcel && pattern_holds(parcel->body, size - 24, size - 24));
    parcel->size = size;
    pattern_fill(parcel->body, size, size);
    return parcel;
}

static void *serve(void *argument) {
    Station *own = argument, *next = &stations[(own->number + 1) % THREADS];
    Random random = random_from(own->number);
    for (int i = 0; i < ROUNDS; i++) {
        size_t box = random_below(&random, MAILBOX);
        Parcel *parcel = atomic_exchange(&own->mailbox[box], NULL);
        parcel = parcel ? forward(parcel) : pack(&random);
        if (parcel)
            free(atomic_exchange(&next->mailbox[box], parcel));
    }
    return NULL;
}

int main(void) {
    for (unsigned i = 0; i < THREADS; i++)
        stations[i].number = i;
    for (int round = 0; round < 2; round++) {
        threads_run(THREADS, serve, stations, sizeof *stations);
        invariants_hold();
    }
    for (int i = 0; i < THREADS; i++)
        for (int box = 0; box < MAILBOX; box++)
            free(atomic_load(&stations[i].mailbox[box]));
    invariants_hold();
    return 0;
}
