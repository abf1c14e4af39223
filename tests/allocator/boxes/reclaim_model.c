/* How blocks are taken out of a magazine that its owner uses meanwhile
 * (reclaim/robbed_magazines.c), as a model: all interleavings of an owner that pops and pushes at
 * will with a reclaimer, where the owner's stores reach the memory late, and in any order unless
 * they are to one place, as on AArch64. In the end each block is in one place: the program's, the
 * magazine's or the reclaimer's. An owner whose malloc is led away pushes alone: then the newest
 * block is taken, too.
 *
 * The same with each of the reclaimer's precautions left out: then it must fail. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"

enum { SLOTS = 5, IN_MAGAZINE = 3, OWN = 2, BLOCKS = IN_MAGAZINE + 1 + OWN, OPERATIONS = 5 };
enum { TOP = SLOTS + 1, PLACES, PENDING = 2 * OPERATIONS, TABLE = 1 << 24 };

enum fault {
    NONE,
    NO_FIRST_BARRIER,
    NO_SECOND_BARRIER,
    TAKES_TOP,
    DROPS_ABOVE,
    NO_SECOND_LOOK,
    FAULTS
};

/* What the owner is in the middle of. */
enum { AT_REST, HAS_READ, HAS_WRITTEN, WAITS };

/* Block 0 is NULL. memory[1] .. [SLOTS] are slots, [0] the NULL below them, [TOP] the number of the
 * slot whose block comes after the one in hand: t in reclaim/robbed_magazines.c. */
typedef struct {
    uint8_t memory[PLACES];
    uint8_t pending_place[PENDING], pending_value[PENDING], pending;
    uint8_t top, hand, has, doing, operations; /* the owner's view; has: a set of blocks */
    uint8_t step, last, seen_top;              /* the reclaimer: last: the highest slot it takes */
    uint8_t taken[SLOTS + 1], ours;            /* what the exchanges found; a set */
} State;

static enum fault fault;
static bool only_pushes;
static uint64_t *seen;
static size_t states;
static bool failed;

/* ---- memory ---- */

static uint8_t read_as_owner(const State *s, uint8_t place) {
    for (int i = s->pending; i-- > 0;)
        if (s->pending_place[i] == place)
            return s->pending_value[i];
    return s->memory[place];
}

static void store(State *s, uint8_t place, uint8_t value) {
    s->pending_place[s->pending] = place;
    s->pending_value[s->pending++] = value;
}

/* Store number i reaches the memory. False: an earlier one to the same place has not yet. */
static bool flush(State *s, int i) {
    for (int j = 0; j < i; j++)
        if (s->pending_place[j] == s->pending_place[i])
            return false;
    s->memory[s->pending_place[i]] = s->pending_value[i];
    s->pending--;
    memmove(&s->pending_place[i], &s->pending_place[i + 1], (size_t)(s->pending - i));
    memmove(&s->pending_value[i], &s->pending_value[i + 1], (size_t)(s->pending - i));
    s->pending_place[s->pending] = s->pending_value[s->pending] = 0;
    return true;
}

static void barrier(State *s) {
    while (s->pending > 0)
        flush(s, 0);
}

/* ---- the owner ---- */

static bool begin_pop(State *s) {
    uint8_t block = read_as_owner(s, s->top);
    s->doing = block == 0 ? WAITS : HAS_READ;
    if (block == 0)
        return true;
    s->has |= (uint8_t)(1 << s->hand);
    s->hand = block;
    return true;
}

static void end_pop(State *s) {
    store(s, TOP, --s->top);
    s->doing = AT_REST;
    s->operations++;
}

static bool begin_push(State *s, uint8_t block) {
    if ((s->has >> block & 1) == 0 || s->top == SLOTS)
        return false;
    store(s, (uint8_t)(s->top + 1), s->hand);
    s->hand = block;
    s->has &= (uint8_t)~(1 << block);
    s->doing = HAS_WRITTEN;
    return true;
}

static void end_push(State *s) {
    store(s, TOP, ++s->top);
    s->doing = AT_REST;
    s->operations++;
}

static void finish_operation(State *s) {
    if (s->doing == HAS_READ)
        end_pop(s);
    else if (s->doing == HAS_WRITTEN)
        end_push(s);
}

/* ---- the reclaimer: one step after the other ---- */

static void decide(State *s, uint8_t slot) {
    uint8_t block = s->taken[slot];
    bool empty = s->memory[slot] == 0 || fault == NO_SECOND_LOOK;
    if (block == 0 || !empty || (slot > s->seen_top && fault == DROPS_ABOVE))
        return;
    bool takes_top = only_pushes || fault == TAKES_TOP;
    if (slot < s->seen_top || (slot == s->seen_top && takes_top))
        s->ours |= (uint8_t)(1 << block);
    else
        s->memory[slot] = block;
}

/* False: it has done all. */
static bool reclaim(State *s) {
    uint8_t step = s->step++, slots = s->last;
    if (step == 0) {
        s->last = (uint8_t)(s->memory[TOP] + only_pushes);
        if (s->last > 0)
            s->last--;
    } else if (step <= slots) {
        s->taken[step] = s->memory[step];
        s->memory[step] = 0;
    } else if (step == slots + 1) {
        if (fault != NO_FIRST_BARRIER)
            barrier(s);
    } else if (step == slots + 2) {
        s->seen_top = s->memory[TOP];
    } else if (step == slots + 3) {
        if (fault != NO_SECOND_BARRIER)
            barrier(s);
    } else if (step <= 2 * slots + 3) {
        decide(s, (uint8_t)(step - slots - 3));
    } else {
        s->step--;
        return false;
    }
    return true;
}

/* ---- all of them ---- */

static void check_end(State s) {
    finish_operation(&s);
    barrier(&s);
    unsigned program = s.has, magazine = 1u << s.hand, twice = (program | magazine) & s.ours;
    twice |= program & magazine;
    for (uint8_t slot = 1; slot <= s.top; slot++) {
        unsigned block = s.memory[slot] == 0 ? 0 : 1u << s.memory[slot];
        twice |= block & (magazine | program | s.ours);
        magazine |= block;
    }
    unsigned all = ((1u << BLOCKS) - 1) << 1;
    failed |= twice != 0 || (program | magazine | s.ours) != all;
}

static bool is_new(const State *s) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const unsigned char *bytes = (const void *)s;
    for (size_t i = 0; i < sizeof *s; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash |= 1;
    size_t at = hash % TABLE;
    for (; seen[at] != 0; at = (at + 1) % TABLE)
        if (seen[at] == hash)
            return false;
    seen[at] = hash;
    CHECK(++states < TABLE / 2);
    return true;
}

static void explore(const State *s);

static void go_on(State next, bool possible) {
    if (possible)
        explore(&next);
}

static void explore_owner(const State *s) {
    State next = *s;
    if (s->doing == HAS_READ || s->doing == HAS_WRITTEN) {
        finish_operation(&next);
        explore(&next);
    } else if (s->doing == AT_REST && s->operations < OPERATIONS) {
        bool pops = !only_pushes && begin_pop(&next);
        go_on(next, pops);
        for (uint8_t block = 1; block <= BLOCKS; block++) {
            next = *s;
            bool possible = begin_push(&next, block);
            go_on(next, possible);
        }
    }
}

static void explore(const State *s) {
    if (failed || !is_new(s))
        return;
    for (int i = 0; i < s->pending; i++) {
        State next = *s;
        bool possible = flush(&next, i);
        go_on(next, possible);
    }
    explore_owner(s);
    State next = *s;
    if (reclaim(&next))
        explore(&next);
    else
        check_end(*s);
}

/* Blocks 1 to IN_MAGAZINE lie in the magazine, one is in hand, the program has the others. */
static bool holds_with(enum fault left_out, bool pushes) {
    State first;
    memset(&first, 0, sizeof first);
    memset(seen, 0, TABLE * sizeof *seen);
    fault = left_out;
    only_pushes = pushes;
    failed = false;
    states = 0;
    for (uint8_t i = 1; i <= IN_MAGAZINE; i++)
        first.memory[i] = i;
    first.hand = IN_MAGAZINE + 1;
    for (uint8_t i = IN_MAGAZINE + 2; i <= BLOCKS; i++)
        first.has |= (uint8_t)(1 << i);
    first.memory[TOP] = first.top = IN_MAGAZINE;
    explore(&first);
    return !failed;
}

int main(void) {
    seen = malloc(TABLE * sizeof *seen);
    CHECK(seen);
    CHECK(holds_with(NONE, false));
    say("%zu states", states);
    CHECK(holds_with(NONE, true));
    say("%zu states where the owner pushes alone", states);
    for (enum fault f = NONE + 1; f < FAULTS; f++)
        CHECK_THAT(!holds_with(f, false), "precaution %d is never needed", f);
    free(seen);
    return 0;
}
