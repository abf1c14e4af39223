/* Writing a trace from events: what cut, merge and anonymise make. Addresses in it are numbers of
 * objects, so a realloc never moves. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "encode.h"
#include "reader.h"

#include <stdio.h>

enum { TRACE_WRITER_BLOCK = 16 << 10 };

typedef struct trace_draft {
    trace_block header;
    unsigned char records[TRACE_WRITER_BLOCK];
    trace_encoder to;
    uint64_t events;
    bool used;
} trace_draft;

typedef struct trace_writer {
    FILE *out;
    long begin; /* of the section in the file */
    trace_section section;
    trace_draft **drafts; /* by thread, made when needed */
    uint32_t threads;
    uint64_t stamp;
    bool failed;
} trace_writer;

/* Begins a section at the end of `out`, described like `like`. */
bool trace_writer_begin(trace_writer *writer, FILE *out, const trace_section *like,
                        uint32_t threads);
void trace_writer_event(trace_writer *writer, const trace_event *event, uint64_t time_ns);
/* False if anything could not be written. */
bool trace_writer_end(trace_writer *writer);

#endif
