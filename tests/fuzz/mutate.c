#include "mutate.h"

#include <string.h>

static const unsigned char weights[FUNCTIONS] = {
#define FUZZ_CALL(name, weight) [DO_##name] = (weight),
#include "calls.def"
#undef FUZZ_CALL
};

/* A program in the making. */
typedef struct text {
    uint8_t *bytes;
    size_t calls, most;
} text;

static uint8_t *at(const text *t, size_t number) {
    return t->bytes + number * CALL_BYTES;
}

static uint8_t random_function(Random *random) {
    unsigned sum = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        sum += weights[i];
    unsigned place = (unsigned)random_below(random, sum), i = 0;
    for (; place >= weights[i]; i++)
        place -= weights[i];
    return (uint8_t)i;
}

/* Few slots, so that calls meet; one in four comes in numbers. */
static void random_call(Random *random, uint8_t *bytes) {
    uint64_t word = random_next(random);
    memcpy(bytes, &word, CALL_BYTES);
    bytes[0] = random_function(random);
    if (random_below(random, 4) != 0)
        bytes[1] &= 0x0F;
    if (random_below(random, 2) != 0)
        bytes[3] = 0;
    if (random_below(random, 8) != 0)
        bytes[6] = (uint8_t)random_below(random, random_below(random, 4) == 0 ? 28 : 16);
}

/* ---- what changes the length ---- */

/* Makes room for `count` calls at `place`; as many as fit. */
static size_t open_gap(text *t, size_t place, size_t count) {
    size_t room = t->most - t->calls;
    count = count < room ? count : room;
    memmove(at(t, place + count), at(t, place), (t->calls - place) * CALL_BYTES);
    t->calls += count;
    return count;
}

static void insert(Random *random, text *t) {
    size_t place = random_below(random, t->calls + 1);
    size_t count = open_gap(t, place, 1 + random_below(random, 3));
    for (size_t i = 0; i < count; i++)
        random_call(random, at(t, place + i));
}

static void erase(Random *random, text *t) {
    size_t from = random_below(random, t->calls);
    size_t count = 1 + random_below(random, t->calls - from);
    if (random_below(random, 2) != 0)
        count = 1;
    memmove(at(t, from), at(t, from + count), (t->calls - from - count) * CALL_BYTES);
    t->calls -= count;
}

static void duplicate(Random *random, text *t) {
    uint8_t copy[16 * CALL_BYTES];
    size_t from = random_below(random, t->calls),
           most = t->calls - from < 16 ? t->calls - from : 16;
    size_t count = 1 + random_below(random, most);
    memcpy(copy, at(t, from), count * CALL_BYTES);
    size_t place = random_below(random, t->calls + 1);
    memcpy(at(t, place), copy, open_gap(t, place, count) * CALL_BYTES);
}

/* One thread allocates, another frees: what the remote chains live on. */
static void hand_over(Random *random, text *t) {
    size_t place = random_below(random, t->calls + 1);
    if (open_gap(t, place, 2) < 2)
        return;
    uint8_t *first = at(t, place), *second = first + CALL_BYTES;
    random_call(random, first);
    first[0] = DO_malloc;
    first[1] = (uint8_t)random_next(random);
    memcpy(second, first, CALL_BYTES);
    second[0] = DO_free;
    second[1] = (uint8_t)((first[1] & 0xF0) | random_below(random, THREADS));
}

/* ---- what does not ---- */

static void change_field(Random *random, text *t) {
    static const uint8_t firsts[] = {0, 1, 2, 4, 6, 7}, lengths[] = {1, 1, 2, 2, 1, 1};
    size_t field = random_below(random, sizeof firsts);
    uint8_t fresh[CALL_BYTES], *old = at(t, random_below(random, t->calls));
    random_call(random, fresh);
    memcpy(old + firsts[field], fresh + firsts[field], lengths[field]);
}

static void change_a_little(Random *random, text *t) {
    uint8_t *byte = at(t, random_below(random, t->calls)) + random_below(random, CALL_BYTES);
    *byte = (uint8_t)(*byte + (random_below(random, 2) != 0 ? 1 : -1));
}

/* Some neighbours get the same thread, slot or size. */
static void make_alike(Random *random, text *t) {
    static const uint8_t firsts[] = {1, 2, 4}, lengths[] = {1, 2, 3};
    size_t from = random_below(random, t->calls), field = random_below(random, sizeof firsts);
    size_t end = from + 2 + random_below(random, 6);
    for (size_t i = from + 1; i < end && i < t->calls; i++)
        memcpy(at(t, i) + firsts[field], at(t, from) + firsts[field], lengths[field]);
}

static void exchange(Random *random, text *t) {
    uint8_t *a = at(t, random_below(random, t->calls)), *b = at(t, random_below(random, t->calls));
    uint8_t kept[CALL_BYTES];
    memcpy(kept, a, CALL_BYTES);
    memmove(a, b, CALL_BYTES);
    memcpy(b, kept, CALL_BYTES);
}

/* ---- the interface ---- */

static text text_of(uint8_t *bytes, size_t size, size_t most) {
    most = most / CALL_BYTES < MOST_CALLS ? most / CALL_BYTES : MOST_CALLS;
    size_t calls = size / CALL_BYTES;
    return (text){bytes, calls < most ? calls : most, most};
}

size_t program_mutate(Random *random, uint8_t *bytes, size_t size, size_t most) {
    static void (*const ways[])(Random *, text *) = {
        insert,       insert,          erase,      duplicate, hand_over, change_field,
        change_field, change_a_little, make_alike, exchange,  erase};
    text t = text_of(bytes, size, most);
    for (size_t left = 1 + random_below(random, 4); left > 0; left--)
        if (t.calls == 0)
            insert(random, &t);
        else
            ways[random_below(random, sizeof ways / sizeof *ways)](random, &t);
    return t.calls * CALL_BYTES;
}

size_t program_cross(Random *random, const uint8_t *a, size_t size_a, const uint8_t *b,
                     size_t size_b, uint8_t *out, size_t most) {
    size_t head = random_below(random, size_a / CALL_BYTES + 1) * CALL_BYTES;
    size_t skip = random_below(random, size_b / CALL_BYTES + 1) * CALL_BYTES;
    size_t tail = size_b / CALL_BYTES * CALL_BYTES - skip;
    most = most / CALL_BYTES * CALL_BYTES;
    head = head < most ? head : most;
    tail = tail < most - head ? tail : most - head;
    memcpy(out, a, head);
    memcpy(out + head, b + skip, tail);
    return head + tail;
}

size_t program_invent(Random *random, uint8_t *bytes, size_t most) {
    text t = text_of(bytes, 0, most);
    size_t calls = 1 + random_below(random, t.most);
    while (t.calls < calls)
        if (random_below(random, 8) == 0)
            hand_over(random, &t);
        else
            random_call(random, at(&t, t.calls++));
    return t.calls * CALL_BYTES;
}
