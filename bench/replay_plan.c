#include "replay_plan.h"

#include "reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX, SHARED = UINT32_MAX - 1 };

typedef struct planned {
    uint32_t slot;
    uint32_t thread; /* of the trace, whose it is alone, or SHARED */
    uint32_t steps;  /* operations on it so far, if it is shared */
} planned;

typedef struct builder {
    replay_counts *counts;
    replay_op **ends;     /* by thread: where its next operation goes; NULL while counting */
    replay_large *larges; /* NULL while counting */
    uint32_t *numbers;    /* thread of the trace -> thread of the plan */
    planned *objects;
    uint64_t room; /* of objects and links */
    /* Slots of objects that died: the last one is used first. Threads that run freely keep lists of
     * their own, else the first list is everybody's. By slot + 1; 0 ends a list. */
    uint32_t *spare, *links;
    uint32_t current; /* the thread whose turn it is */
    bool freely, failed;
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

/* Tables by object, and by slot, of which there are no more; larger by powers of two. */
static bool make_room(builder *b, uint32_t object) {
    if (object < b->room)
        return true;
    uint64_t room = b->room ? 2 * b->room : 1 << 16;
    planned *objects = realloc(b->objects, room * sizeof *objects);
    b->objects = objects ? objects : b->objects;
    uint32_t *links = realloc(b->links, room * sizeof *links);
    b->links = links ? links : b->links;
    if (objects == NULL || links == NULL) {
        fail(b, "no memory for the plan");
        return false;
    }
    memset(objects + b->room, 0xff, (room - b->room) * sizeof *objects);
    b->room = room;
    return true;
}

static bool is_shared(const builder *b, uint32_t object) {
    return b->freely && b->objects[object].thread == SHARED;
}

static void take_slot(builder *b, uint32_t object, uint32_t thread) {
    uint32_t *spare = &b->spare[b->freely ? thread : 0], slot = *spare;
    if (slot == 0 || is_shared(b, object))
        slot = ++b->counts->slots;
    else
        *spare = b->links[slot - 1];
    b->objects[object].slot = slot - 1;
    b->objects[object].steps = 0;
}

/* The slot of a shared object is nobody's afterwards: who knows who is late. */
static void give_slot(builder *b, uint32_t object, uint32_t thread) {
    uint32_t *spare = &b->spare[b->freely ? thread : 0], slot = b->objects[object].slot;
    if (is_shared(b, object))
        return;
    b->links[slot] = *spare;
    *spare = slot + 1;
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
    if (number != b->current && !b->freely)
        emit(b, b->current, (replay_op){number, REPLAY_PASS});
    return b->current = number;
}

/* An operation on an object, in its turn if other threads touch it too. */
static void emit_for(builder *b, uint32_t thread, uint32_t object, uint32_t what) {
    planned *plan = &b->objects[object];
    bool shared = is_shared(b, object), last = (what & REPLAY_KIND_MASK) == REPLAY_FREE;
    if (shared && plan->steps > 0)
        emit(b, thread, (replay_op){plan->slot, plan->steps << REPLAY_SHIFT | REPLAY_AWAIT});
    emit(b, thread, (replay_op){plan->slot, what});
    if (shared && !last) {
        emit(b, thread, (replay_op){plan->slot, REPLAY_AWAIT | REPLAY_LARGE});
        plan->steps++;
    }
}

static void add_birth(builder *b, const trace_event *event, uint32_t thread) {
    uint32_t kind = event->kind == TRACE_MALLOC   ? REPLAY_MALLOC
                    : event->kind == TRACE_CALLOC ? REPLAY_CALLOC
                                                  : REPLAY_ALIGNED;
    unsigned align = event->kind == TRACE_ALIGNED ? event->align | 64u : 0;
    if (!make_room(b, event->object))
        return;
    take_slot(b, event->object, thread);
    emit_for(b, thread, event->object, sized(b, event->size, align) | kind);
}

static void add_free(builder *b, const trace_event *event, uint32_t thread) {
    if (event->object == UINT32_MAX) {
        emit(b, thread, (replay_op){0, REPLAY_FREE | REPLAY_LARGE});
        return;
    }
    emit_for(b, thread, event->object, REPLAY_FREE);
    give_slot(b, event->object, thread);
}

static void add(builder *b, const trace_event *event) {
    uint32_t thread = turn_to(b, event->thread);
    if (b->failed)
        return;
    if (event->kind <= TRACE_ALIGNED)
        add_birth(b, event, thread);
    else if (event->kind == TRACE_FREE)
        add_free(b, event, thread);
    else if (event->kind == TRACE_REALLOC)
        emit_for(b, thread, event->object, sized(b, event->size, 0) | REPLAY_REALLOC);
}

/* Who touches each object: what runs freely must know it from the birth on. */
static void find_shared(builder *b, trace_part *part, uint64_t limit) {
    trace_objects objects;
    trace_event event;
    bool begun = trace_objects_begin(&objects, part);
    for (uint64_t i = 0; begun && i < limit && trace_objects_next(&objects, &event);) {
        i += event.kind != TRACE_END;
        if (event.object == UINT32_MAX || !make_room(b, event.object))
            continue;
        uint32_t *thread = &b->objects[event.object].thread;
        *thread = event.kind <= TRACE_ALIGNED || *thread == event.thread ? event.thread : SHARED;
    }
    if (begun)
        trace_objects_end(&objects);
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
    b->spare = calloc(part->threads + 1, sizeof *b->spare);
    if (b->freely)
        find_shared(b, part, limit);
    if (!b->numbers || !b->spare || !trace_objects_begin(&objects, part)) {
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
    if (b->current != 0 && !b->freely)
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
    if (part != NULL)
        snprintf(b->counts->damage, REPLAY_ERROR, "%s", part->damage);
}

void replay_count(const replay_wish *wish, replay_counts *counts) {
    builder b = {.counts = counts, .freely = wish->freely};
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
    builder b = {.counts = &again, .larges = larges, .freely = wish->freely};
    b.ends = malloc((counts->threads + 1) * sizeof *b.ends);
    if (b.ends == NULL)
        return;
    for (uint32_t i = 0; i < counts->threads; i++) {
        b.ends[i] = ops;
        ops += counts->ops[i];
    }
    build(&b, wish);
    if (!wish->freely)
        mark_ends(b.ends, counts->threads);
}
