/* Plain accesses: who made the last ones at each place, and what was there before. */
#include <string.h>

#include "inside.h"

enum { WORD = 8, WORDS = 1 << 16, LOGGED = 1 << 15, IGNORED = 8 };

/* The accesses to a word of memory in this execution; bytes as a mask. */
typedef struct shadow {
    uintptr_t word;
    unsigned execution;
    bool is_logged;
    uint8_t written, read[MODEL_THREADS];
    int writer;
    unsigned written_at, read_at[MODEL_THREADS];
} shadow;

clocks model_known[MODEL_THREADS];
int model_ignores_reads;
static shadow shadows[WORDS];
static unsigned execution = 1;
static struct {
    void *place;
    uint64_t old;
} logged[LOGGED];
static size_t logged_count;
static struct {
    uintptr_t from, to;
} ignored[IGNORED];
static unsigned ignored_count;

void model_ignore(const void *place, size_t bytes) {
    ignored[ignored_count].from = (uintptr_t)place;
    ignored[ignored_count++].to = (uintptr_t)place + bytes;
}

static bool is_ignored(uintptr_t place) {
    for (unsigned i = 0; i < ignored_count; i++)
        if (ignored[i].from <= place && place < ignored[i].to)
            return true;
    return false;
}

static shadow *shadow_of(uintptr_t word) {
    size_t i = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 48) % WORDS;
    while (shadows[i].execution == execution && shadows[i].word != word)
        i = (i + 1) % WORDS;
    if (shadows[i].execution != execution)
        shadows[i] = (shadow){.word = word, .execution = execution};
    return &shadows[i];
}

/* ---- the log ---- */

static void log_word(shadow *s) {
    if (s->is_logged || !model_is_executing)
        return;
    s->is_logged = true;
    if (logged_count == LOGGED) {
        model_failed("the log of what was written is full");
        return;
    }
    logged[logged_count].place = (void *)(s->word * WORD);
    memcpy(&logged[logged_count++].old, (void *)(s->word * WORD), WORD);
}

void model_log(const void *place, size_t bytes) {
    uintptr_t last = ((uintptr_t)place + bytes - 1) / WORD;
    for (uintptr_t word = (uintptr_t)place / WORD; word <= last; word++)
        log_word(shadow_of(word));
}

void model_undo(void) {
    while (logged_count > 0) {
        logged_count--;
        memcpy(logged[logged_count].place, &logged[logged_count].old, WORD);
    }
    execution++;
}

int model_writer(const void *place) {
    return shadow_of((uintptr_t)place / WORD)->writer;
}

/* ---- races ---- */

static bool is_unordered(int thread, unsigned at) {
    return thread != model_self && at > model_known[model_self].of[thread];
}

static bool races(const shadow *s, uint8_t mask, bool writes) {
    if ((s->written & mask) != 0 && is_unordered(s->writer, s->written_at))
        return true;
    for (int thread = 0; writes && thread < MODEL_THREADS; thread++)
        if ((s->read[thread] & mask) != 0 && is_unordered(thread, s->read_at[thread]))
            return true;
    return false;
}

static void note(shadow *s, uint8_t mask, bool writes) {
    unsigned now = model_known[model_self].of[model_self];
    if (writes) {
        s->written = s->writer == model_self && s->written_at == now ? s->written | mask : mask;
        s->writer = model_self;
        s->written_at = now;
        log_word(s);
    } else {
        s->read[model_self] = s->read_at[model_self] == now ? s->read[model_self] | mask : mask;
        s->read_at[model_self] = now;
    }
}

static void access_word(uintptr_t word, uint8_t mask, bool writes) {
    shadow *s = shadow_of(word);
    if (races(s, mask, writes)) {
        model_trace(writes ? "write" : "read", (void *)(word * WORD), mask, 0);
        model_failed(writes ? "data race: a write beside another access"
                            : "data race: a read beside a write");
    }
    note(s, mask, writes);
}

void model_access(const void *place, size_t bytes, bool writes) {
    uintptr_t from = (uintptr_t)place, end = from + bytes;
    if (is_ignored(from) || (!writes && (model_ignores_reads > 0 || model_self < 0)))
        return;
    if (model_self < 0) {
        model_log(place, bytes);
        return;
    }
    for (uintptr_t word = from / WORD; word * WORD < end; word++) {
        unsigned mask = 0xFF;
        if (word * WORD < from)
            mask &= 0xFFu << (from - word * WORD);
        if (end < (word + 1) * WORD)
            mask &= 0xFFu >> ((word + 1) * WORD - end);
        access_word(word, (uint8_t)mask, writes);
    }
}
