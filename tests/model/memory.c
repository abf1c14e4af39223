/* Atomic operations: all stores to each place, and which of them a thread may still read. */
#include <stdatomic.h>
#include <string.h>

#include "inside.h"

enum { PLACES = 64, STORES = 128, ENOUGH_LOOKS = 1 };

/* What a thread knows, and what comes with a store that releases it. */
typedef struct view {
    uint8_t from[PLACES]; /* the oldest store of each place that may be read */
    clocks known;
} view;

typedef struct store {
    uint64_t value;
    bool releases;
    view released;
} store;

static struct place {
    void *address;
    unsigned count;       /* stores */
    uint8_t ordered_from; /* sequentially consistent loads read no older one */
} places[PLACES];
static store stores[PLACES][STORES];
static unsigned place_count;
static view views[MODEL_THREADS];      /* but for `known`, which is model_known */
static view to_acquire[MODEL_THREADS]; /* by a fence, what relaxed loads have read */
static view to_release[MODEL_THREADS]; /* what a fence released */
static bool has_released[MODEL_THREADS];

/* The last operation of each thread, if it was a load. Who reads the same again and again waits for
 * a change: after its first look it finds what it has found. */
static struct {
    const void *address;
    unsigned read, times;
} looks[MODEL_THREADS];

void model_memory_forget(void) {
    place_count = 0;
    memset(views, 0, sizeof views);
    memset(to_acquire, 0, sizeof to_acquire);
    memset(has_released, 0, sizeof has_released);
    memset(looks, 0, sizeof looks);
    memset(model_known, 0, sizeof model_known);
    for (int i = 0; i < MODEL_THREADS; i++)
        model_known[i].of[i] = 1;
}

static void join(view *to, const view *from) {
    for (unsigned i = 0; i < place_count; i++)
        if (to->from[i] < from->from[i])
            to->from[i] = from->from[i];
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        if (to->known.of[i] < from->known.of[i])
            to->known.of[i] = from->known.of[i];
}

static view view_now(void) {
    view now = views[model_self];
    now.known = model_known[model_self];
    return now;
}

static void learn(const view *more) {
    view now = view_now();
    join(&now, more);
    views[model_self] = now;
    model_known[model_self] = now.known;
}

/* ---- places ---- */

static uint64_t read_memory(const void *address, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, address, bytes); /* little endian */
    return value;
}

static unsigned place_of(void *address, unsigned bytes) {
    unsigned i = 0;
    while (i < place_count && places[i].address != address)
        i++;
    if (i < place_count)
        return i;
    if (place_count == PLACES) {
        model_failed("too many atomic places");
        return 0;
    }
    places[place_count++] = (struct place){address, 1, 0};
    stores[i][0] = (store){.value = read_memory(address, bytes)};
    for (unsigned thread = 0; thread < MODEL_THREADS; thread++)
        views[thread].from[i] = to_acquire[thread].from[i] = to_release[thread].from[i] = 0;
    return i;
}

/* A place that its owner writes plainly, too: that store comes behind all others, and he knows it.
 */
static void note_plain_store(unsigned place, unsigned bytes) {
    struct place *p = &places[place];
    uint64_t value = read_memory(p->address, bytes);
    if (value == stores[place][p->count - 1].value || p->count == STORES)
        return;
    stores[place][p->count] = (store){.value = value};
    views[model_writer(p->address)].from[place] = (uint8_t)p->count++;
}

/* ---- orders ---- */

static bool is_ordered(int order) {
    return order == memory_order_seq_cst && model_fault != MODEL_NO_ORDER;
}

static bool acquires(int order) {
    return model_fault != MODEL_NO_ACQUIRE &&
           (order == memory_order_acquire || order == memory_order_acq_rel ||
            order == memory_order_consume || order == memory_order_seq_cst);
}

static bool releases(int order) {
    return model_fault != MODEL_NO_RELEASE &&
           (order == memory_order_release || order == memory_order_acq_rel ||
            order == memory_order_seq_cst);
}

/* ---- reading and writing ---- */

static void has_read(unsigned place, unsigned index, int order) {
    const store *s = &stores[place][index];
    model_trace(acquires(order) ? "acquires" : "reads", places[place].address, s->value, index);
    if (views[model_self].from[place] < index)
        views[model_self].from[place] = (uint8_t)index;
    if (!s->releases)
        return;
    if (acquires(order))
        learn(&s->released);
    else
        join(&to_acquire[model_self], &s->released);
}

static unsigned oldest_for(unsigned place, int order) {
    unsigned from = views[model_self].from[place];
    unsigned ordered = is_ordered(order) ? places[place].ordered_from : 0;
    return from < ordered ? ordered : from;
}

/* The newest first. A comparison that fails reads another value than the expected one. */
static unsigned choose_store(unsigned place, int order, const uint64_t *not_this, bool or_none) {
    unsigned fit[STORES], count = 0;
    for (unsigned i = places[place].count; i-- > oldest_for(place, order);)
        if (not_this == NULL || stores[place][i].value != *not_this)
            fit[count++] = i;
    unsigned chosen = model_choose(count + or_none);
    return chosen < count ? fit[chosen] : STORES;
}

static void write_value(unsigned place, unsigned bytes, uint64_t value, int order, bool goes_on) {
    struct place *p = &places[place];
    if (p->count == STORES) {
        model_failed("too many stores to one place");
        return;
    }
    const store *before = &stores[place][p->count - 1];
    store *s = &stores[place][p->count];
    *s = (store){.value = value};
    views[model_self].from[place] = (uint8_t)p->count;
    if (goes_on && before->releases) { /* a release sequence */
        s->releases = true;
        s->released = before->released;
    }
    if (releases(order) || has_released[model_self]) {
        view now = releases(order) ? view_now() : to_release[model_self];
        now.from[place] = (uint8_t)p->count;
        join(&s->released, &now);
        s->releases = true;
    }
    if (is_ordered(order))
        p->ordered_from = (uint8_t)p->count;
    model_trace("stores", p->address, before->value, value);
    p->count++;
    model_known[model_self].of[model_self]++;
    model_log(p->address, bytes);
    memcpy(p->address, &value, bytes);
}

static uint64_t read_modify_write(unsigned place, unsigned bytes, const atomic_kind *kind,
                                  uint64_t operand) {
    unsigned last = places[place].count - 1;
    uint64_t old = stores[place][last].value;
    has_read(place, last, kind->order);
    write_value(place, bytes, kind->change(old, operand), kind->order, true);
    return old;
}

/* A comparison that fails may have read an old store. */
static uint64_t compare(unsigned place, unsigned bytes, const atomic_kind *kind, uint64_t operand,
                        uint64_t expected, bool *done) {
    bool equal = stores[place][places[place].count - 1].value == expected;
    unsigned read = choose_store(place, kind->order_of_failure, &expected, equal);
    *done = read == STORES;
    if (*done)
        return read_modify_write(place, bytes, kind, operand);
    has_read(place, read, kind->order_of_failure);
    return stores[place][read].value;
}

static bool spins(const void *address, const atomic_kind *kind) {
    if (kind->change != NULL || looks[model_self].address != address)
        looks[model_self].times = 0;
    looks[model_self].address = address;
    return looks[model_self].times >= ENOUGH_LOOKS;
}

static uint64_t load(unsigned place, int order) {
    unsigned read = choose_store(place, order, NULL, false), before = looks[model_self].read;
    looks[model_self].times = read == before ? looks[model_self].times + 1 : 1;
    looks[model_self].read = read;
    has_read(place, read, order);
    return stores[place][read].value;
}

uint64_t model_atomic(void *address, unsigned bytes, const atomic_kind *kind, uint64_t operand,
                      uint64_t expected, bool *done) {
    if (spins(address, kind))
        return stores[place_of(address, bytes)][looks[model_self].read].value;
    model_step(address, kind->change != NULL);
    unsigned place = place_of(address, bytes);
    note_plain_store(place, bytes);
    if (kind->compares)
        return compare(place, bytes, kind, operand, expected, done);
    if (kind->change != NULL && kind->reads_last)
        return read_modify_write(place, bytes, kind, operand);
    if (kind->change != NULL) {
        write_value(place, bytes, operand, kind->order, false);
        return 0;
    }
    return load(place, kind->order);
}

void model_fence(int order) {
    if (acquires(order))
        learn(&to_acquire[model_self]);
    if (releases(order)) {
        to_release[model_self] = view_now();
        has_released[model_self] = true;
        model_known[model_self].of[model_self]++;
    }
    if (order == memory_order_seq_cst)
        model_failed("a sequentially consistent fence: the checker has none yet");
}
