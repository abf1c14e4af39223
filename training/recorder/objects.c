/* Addresses become objects, numbered by birth. */
#include "reader.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 12 };

static size_t home_of(const trace_objects *objects, uint64_t address) {
    return (size_t)((address * 0x9E3779B97F4A7C15u) >> 20) & objects->mask;
}

static trace_slot *find(const trace_objects *objects, uint64_t address) {
    size_t at = home_of(objects, address);
    while (objects->slots[at].address != address && objects->slots[at].address != 0)
        at = (at + 1) & objects->mask;
    return &objects->slots[at];
}

static bool grow(trace_objects *objects) {
    trace_objects larger = *objects;
    size_t room = 2 * (objects->mask + 1);
    larger.mask = room - 1;
    larger.slots = calloc(room, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i <= objects->mask; i++)
        if (objects->slots[i].address != 0)
            *find(&larger, objects->slots[i].address) = objects->slots[i];
    free(objects->slots);
    *objects = larger;
    return true;
}

/* Linear probing without tombstones: what follows the hole moves up. */
static void drop(trace_objects *objects, trace_slot *slot) {
    size_t hole = (size_t)(slot - objects->slots), at = hole;
    for (;;) {
        at = (at + 1) & objects->mask;
        if (objects->slots[at].address == 0)
            break;
        size_t home = home_of(objects, objects->slots[at].address);
        if (((at - home) & objects->mask) >= ((at - hole) & objects->mask)) {
            objects->slots[hole] = objects->slots[at];
            hole = at;
        }
    }
    objects->slots[hole].address = 0;
    objects->used--;
}

/* False when there is no memory: the trace ends there. An address that is handed out while it is
 * in use was freed unseen; the object that had it lives on without one. */
static bool put(trace_objects *objects, uint64_t address, uint32_t object, uint64_t size) {
    if (2 * objects->used > objects->mask && !grow(objects))
        return false;
    trace_slot *slot = find(objects, address);
    if (slot->address != 0)
        objects->unseen++;
    else
        objects->used++;
    *slot = (trace_slot){address, size, object};
    return true;
}

static bool birth(trace_objects *objects, const trace_record *record, trace_event *event) {
    event->object = objects->objects++;
    event->size = record->size;
    return put(objects, record->address, event->object, record->size);
}

/* Each of these returns whether there is an event, and sets *failed when memory ends. */
static bool note_free(trace_objects *objects, const trace_record *record, trace_event *event) {
    if (record->address == 0)
        return true; /* free(NULL) */
    trace_slot *slot = find(objects, record->address);
    if (slot->address == 0) {
        objects->foreign++;
        return false;
    }
    event->object = slot->object;
    event->before = slot->size;
    drop(objects, slot);
    return true;
}

static bool note_moved(trace_objects *objects, const trace_record *record, trace_event *event,
                       bool *failed) {
    trace_slot *moving = &objects->moving[record->thread];
    bool known = moving->address != 0;
    event->kind = known ? TRACE_REALLOC : TRACE_MALLOC;
    if (known) {
        event->object = moving->object;
        event->before = moving->size;
        event->size = record->size;
        *failed = !put(objects, record->address, moving->object, record->size);
        moving->address = 0;
    } else {
        *failed = !birth(objects, record, event);
    }
    return true;
}

static bool note_gone(trace_objects *objects, const trace_record *record) {
    trace_slot *slot = find(objects, record->address);
    objects->moving[record->thread] = *slot;
    if (slot->address != 0)
        drop(objects, slot);
    else
        objects->foreign++;
    return false;
}

static bool note_resized(trace_objects *objects, const trace_record *record, trace_event *event,
                         bool *failed) {
    trace_slot *slot = find(objects, record->address);
    if (slot->address == 0) {
        event->kind = TRACE_MALLOC;
        *failed = !birth(objects, record, event);
        return true;
    }
    event->object = slot->object;
    event->before = slot->size;
    event->size = slot->size = record->size;
    return true;
}

static bool note(trace_objects *objects, const trace_record *record, trace_event *event,
                 bool *failed) {
    *event = (trace_event){.object = UINT32_MAX,
                           .thread = record->thread,
                           .site = record->site,
                           .kind = record->kind,
                           .align = record->align};
    switch (record->kind) {
    case TRACE_MALLOC:
    case TRACE_CALLOC:
    case TRACE_ALIGNED:
        *failed = !birth(objects, record, event);
        return true;
    case TRACE_FREE:
        return note_free(objects, record, event);
    case TRACE_REALLOC:
        return note_resized(objects, record, event, failed);
    case TRACE_MOVE:
        return record->gone ? note_gone(objects, record)
                            : note_moved(objects, record, event, failed);
    case TRACE_END:
        break;
    }
    return true;
}

bool trace_objects_begin(trace_objects *objects, trace_part *part) {
    *objects = (trace_objects){.mask = FIRST_SLOTS - 1};
    objects->slots = calloc(FIRST_SLOTS, sizeof *objects->slots);
    objects->moving = calloc(part->threads + 1, sizeof *objects->moving);
    return objects->slots && objects->moving && trace_order_begin(&objects->order, part);
}

bool trace_objects_next(trace_objects *objects, trace_event *event) {
    const trace_record *record;
    bool failed = false;
    while (!failed && (record = trace_order_next(&objects->order)) != NULL)
        if (note(objects, record, event, &failed))
            return !failed;
    return false;
}

void trace_objects_end(trace_objects *objects) {
    trace_order_end(&objects->order);
    free(objects->slots);
    free(objects->moving);
    *objects = (trace_objects){0};
}
