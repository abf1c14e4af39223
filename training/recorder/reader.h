/* Reading a trace, from bytes to what happened to which object.
 *
 *   reader.c   the file: sections, blocks, checksums, damage
 *   order.c    the records of all threads of a section, in the order of their stamps
 *   objects.c  addresses become objects, numbered by birth
 *
 * A trace may come from a killed process, a full disk, or a bad disk: nothing here trusts it. What
 * lies before the first damage is used, and the damage is named. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "format.h"

#include <stdbool.h>

enum { TRACE_TEXT = 160, TRACE_SECTIONS_MAX = 1 << 16 };

/* What is known of a block's records. Of the copies that a kill leaves, the best is read. */
typedef enum trace_state { TRACE_SPOILT, TRACE_EMPTY, TRACE_OPEN, TRACE_SEALED } trace_state;

typedef struct trace_span {
    const unsigned char *records;
    uint64_t length, stamp, address, time_ns, events;
    uint32_t thread;
    trace_state state;
} trace_span;

typedef struct trace_part {
    const trace_section *header;
    uint64_t offset;
    trace_span *spans; /* by thread, and within a thread by stamp */
    size_t span_count;
    uint64_t sealed_events, open_bytes; /* of open blocks: what is not zero */
    uint32_t threads;
    bool damaged;            /* reading ends at the first gap in the stamps */
    char damage[TRACE_TEXT]; /* what and where, or "" */
} trace_part;

typedef struct trace_file {
    const unsigned char *bytes;
    size_t length;
    trace_part *parts;
    size_t part_count;
} trace_file;

/* False, with a sentence in `error`, if there is no trace. */
bool trace_open(const char *path, trace_file *file, char error[TRACE_TEXT]);
/* Events of a part, roughly: those in open blocks are not counted anywhere. */
uint64_t trace_about_events(const trace_part *part);
void trace_close(trace_file *file);

/* One record. A MOVE comes as two of them: gone (at the stamp before the call), then there. */
typedef struct trace_record {
    uint64_t stamp, address, size;
    uint32_t thread, site;
    trace_kind kind;
    unsigned align; /* log2 */
    bool gone;
} trace_record;

typedef struct trace_stream {
    const trace_span *next_span, *end_span;
    const unsigned char *at, *end;
    uint64_t stamp, address;
    trace_record record;
    trace_record moved; /* the second half of a MOVE, if pending */
    bool pending;
} trace_stream;

typedef struct trace_order {
    trace_part *part;
    trace_stream *streams;
    uint32_t *heap; /* of streams, the lowest stamp first */
    uint32_t count;
    uint64_t last;
    const trace_span **anchors; /* spans by stamp: they tie stamps to times */
    size_t anchor;
    bool advance; /* the stream on top has given its record */
} trace_order;

bool trace_order_begin(trace_order *order, trace_part *part);
/* The next record, or NULL at the end or at damage (part->damage then says more). */
const trace_record *trace_order_next(trace_order *order);
/* Nanoseconds since the section began, of the last record, by its block and the one after it. */
uint64_t trace_order_time(trace_order *order);
void trace_order_end(trace_order *order);

/* One event. MOVE does not occur: it is a REALLOC. */
typedef struct trace_event {
    uint64_t size;   /* after it; of FREE: 0 */
    uint64_t before; /* live bytes of the object before it; of a birth: 0 */
    uint32_t object; /* UINT32_MAX: none (free(NULL), END) */
    uint32_t thread, site;
    trace_kind kind;
    unsigned align;
} trace_event;

typedef struct trace_slot {
    uint64_t address; /* 0: free */
    uint64_t size;
    uint32_t object;
} trace_slot;

typedef struct trace_objects {
    trace_order order;
    trace_slot *slots; /* live objects by address; open addressing */
    size_t mask, used;
    trace_slot *moving; /* by thread: between the halves of a MOVE */
    uint32_t objects;
    uint64_t foreign; /* frees of blocks that were born before the recording */
    uint64_t unseen;  /* blocks whose free was not recorded: their address was handed out again */
} trace_objects;

bool trace_objects_begin(trace_objects *objects, trace_part *part);
bool trace_objects_next(trace_objects *objects, trace_event *event);
void trace_objects_end(trace_objects *objects);

#endif
