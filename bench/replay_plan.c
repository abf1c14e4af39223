#include "replay_plan.h"

#include "reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

typedef struct builder {
    replay_counts *counts;
    replay_op **ends;     /* by thread: where its next operation goes; NULL while counting */
    replay_large *larges; /* NULL while counting */
    uint32_t *numbers;    /* thread of the trace -> thread of the plan */
    uint32_t *slot_of;    /* object -> slot */
    uint32_t *spare;      /* slots of objects that died: the last one is used first */
    uint64_t objects_room, spare_count;
    uint32_t current; /* the thread whose turn it is */
    bool failed;
} builder;

static void fail(builder *b, const char *what) {
    snprintf(b->counts->error, REPLAY_ERROR, "%s", what);
    b->failed = true;
}

static void emit(builder *b, uint32_t thread, replay_op op) {
    if (b->ends != NULL)
        *b->ends[thread]++ = op;
    else
        b->counts->ops[thread]++;
}

/* The size as the upper bits of `what`; odd ones go to the table. */
static uint32_t sized(builder *b, uint64_t size, unsigned align) {
    if (align == 0 && size <= REPLAY_SIZE_MAX)
        return (uint32_t)size << REPLAY_SHIFT;
    uint32_t index = b->counts->larges++;
    if (b->larges != NULL)
        b->larges[index] = (replay_large){size, align};
    return index << REPLAY_SHIFT | REPLAY_LARGE;
}

/* Table of slots by object, larger by powers of two. */
static bool make_room(builder *b, uint32_t object) {
    if (object < b->objects_room)
        return true;
    uint64_t room = b->objects_room ? 2 * b->objects_room : 1 << 16;
    uint32_t *slots = realloc(b->slot_of, room * sizeof *slots);
    b->slot_of = slots ? slots : b->slot_of;
    uint32_t *spare = realloc(b->spare, room * sizeof *spare);
    b->spare = spare ? spare : b->spare;
    if (slots == NULL || spare == NULL)
        return false;
    b->objects_room = room;
    return true;
}

static uint32_t take_slot(builder *b, uint32_t object) {
    if (!make_room(b, object)) {
        fail(b, "no memory for the plan");
        return 0;
    }
    uint32_t slot = b->spare_count ? b->spare[--b->spare_count] : b->counts->slots++;
    return b->slot_of[object] = slot;
}

/* Numbers the thread, and gives it the turn if another one had it. */
static uint32_t turn_to(builder *b, uint32_t thread) {
    uint32_t number = b->numbers[thread];
    bool fresh = number == NONE;
    if (fresh) {
        number = b->numbers[thread] = b->counts->threads++;
        if (number >= REPLAY_THREADS_MAX) {
            fail(b, "more threads than can be replayed");
            return 0;
        }
    }
    if (fresh && number > 0)
        emit(b, b->current, (replay_op){number, REPLAY_SPAWN});
    if (number != b->current)
        emit(b, b->current, (replay_op){number, REPLAY_PASS});
    return b->current = number;
}

static void add(builder *b, const trace_event *event) {
    uint32_t thread = turn_to(b, event->thread);
    switch (event->kind) {
    case TRACE_MALLOC:
    case TRACE_CALLOC:
    case TRACE_ALIGNED: {
        uint32_t kind = event->kind == TRACE_MALLOC   ? REPLAY_MALLOC
                        : event->kind == TRACE_CALLOC ? REPLAY_CALLOC
                                                      : REPLAY_ALIGNED;
        unsigned align = event->kind == TRACE_ALIGNED ? event->align | 64u : 0;
        emit(b, thread,
             (replay_op){take_slot(b, event->object), sized(b, event->size, align) | kind});
        break;
    }
    case TRACE_REALLOC:
        emit(b, thread,
             (replay_op){b->slot_of[event->object], sized(b, event->size, 0) | REPLAY_REALLOC});
        break;
    case TRACE_FREE:
        if (event->object == UINT32_MAX) {
            emit(b, thread, (replay_op){0, REPLAY_FREE_NULL});
            break;
        }
        emit(b, thread, (replay_op){b->slot_of[event->object], REPLAY_FREE});
        b->spare[b->spare_count++] = b->slot_of[event->object];
        break;
    case TRACE_MOVE:
    case TRACE_END:
        break;
    }
}

static trace_part *choose(trace_file *file, uint64_t process) {
    if (process != UINT64_MAX)
        return process < file->part_count ? &file->parts[process] : NULL;
    trace_part *found = file->parts;
    for (size_t i = 1; i < file->part_count; i++)
        if (trace_about_events(&file->parts[i]) > trace_about_events(found))
            found = &file->parts[i];
    return found;
}

static void add_all(builder *b, trace_part *part, uint64_t limit) {
    trace_objects objects;
    trace_event event;
    b->numbers = malloc((part->threads + 1) * sizeof *b->numbers);
    if (b->numbers == NULL || !trace_objects_begin(&objects, part)) {
        fail(b, "no memory for the plan");
        return;
    }
    memset(b->numbers, 0xff, (part->threads + 1) * sizeof *b->numbers);
    uint64_t events = 0;
    while (!b->failed && events < limit && trace_objects_next(&objects, &event))
        if (event.kind != TRACE_END) {
            add(b, &event);
            events++;
        }
    b->counts->events = events;
    if (b->current != 0)
        emit(b, b->current, (replay_op){0, REPLAY_PASS});
}

static void build(builder *b, const replay_wish *wish) {
    char error[TRACE_TEXT];
    trace_file file;
    if (!trace_open(wish->path, &file, error)) {
        fail(b, error);
        return;
    }
    trace_part *part = choose(&file, wish->process);
    if (part == NULL)
        fail(b, "there is no such process in it");
    else
        add_all(b, part, wish->limit);
    if (!b->failed && b->counts->events == 0)
        fail(b, "there is no event in it");
}

void replay_count(const replay_wish *wish, replay_counts *counts) {
    builder b = {.counts = counts};
    build(&b, wish);
}

/* A thread's last operation passes the turn on for ever; thread 0 is the main thread and stays. */
static void mark_ends(replay_op **ends, uint32_t threads) {
    for (uint32_t i = 1; i < threads; i++)
        ends[i][-1].what |= REPLAY_LARGE;
}

void replay_fill(const replay_wish *wish, const replay_counts *counts, replay_op *ops,
                 replay_large *larges) {
    replay_counts again = {0};
    builder b = {.counts = &again, .larges = larges};
    b.ends = malloc((counts->threads + 1) * sizeof *b.ends);
    if (b.ends == NULL)
        return;
    for (uint32_t i = 0; i < counts->threads; i++) {
        b.ends[i] = ops;
        ops += counts->ops[i];
    }
    build(&b, wish);
    mark_ends(b.ends, counts->threads);
}
