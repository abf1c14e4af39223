#include "writer.h"

#include <stdlib.h>

static void put(trace_writer *writer, const void *bytes, size_t length) {
    if (fwrite(bytes, 1, length, writer->out) != length)
        writer->failed = true;
}

static void pad(trace_writer *writer, size_t unit) {
    static const unsigned char zeros[TRACE_SECTION_BYTES];
    size_t over = (size_t)(ftell(writer->out) - writer->begin) % unit;
    if (over != 0)
        put(writer, zeros, unit - over);
}

static void put_header(trace_writer *writer) {
    writer->section.check = trace_section_check(&writer->section);
    put(writer, &writer->section, sizeof writer->section);
    pad(writer, TRACE_SECTION_BYTES);
}

bool trace_writer_begin(trace_writer *writer, FILE *out, const trace_section *like,
                        uint32_t threads) {
    *writer = (trace_writer){.out = out, .begin = ftell(out), .section = *like, .threads = threads};
    writer->section.flags |= TRACE_DERIVED;
    writer->section.flags &= ~(uint32_t)(TRACE_RING | TRACE_BATCHES);
    writer->section.events = writer->section.recorder_ns = writer->section.last_stamp = 0;
    writer->section.closed = 1;
    writer->drafts = calloc(threads + 1, sizeof *writer->drafts);
    if (writer->drafts == NULL)
        return false;
    put_header(writer);
    return !writer->failed;
}

static void flush(trace_writer *writer, trace_draft *draft) {
    trace_block *block = &draft->header;
    if (!draft->used)
        return;
    block->length = (uint64_t)(draft->to.at - draft->records);
    block->sum = trace_sum(draft->records, block->length);
    block->events = draft->events;
    put(writer, block, sizeof *block);
    put(writer, draft->records, block->length);
    pad(writer, TRACE_BLOCK_ALIGN);
    writer->section.events += draft->events;
    draft->used = false;
}

static void begin_draft(trace_writer *writer, trace_draft *draft, uint32_t thread,
                        uint64_t time_ns) {
    memset(draft->records, 0, sizeof draft->records);
    draft->header = (trace_block){.magic = TRACE_BLOCK_MAGIC,
                                  .thread = thread,
                                  .stamp = writer->stamp,
                                  .address = draft->to.address,
                                  .time_ns = time_ns};
    draft->header.check = trace_block_check(&draft->header);
    draft->to.at = draft->records;
    draft->to.stamp = writer->stamp;
    draft->events = 0;
    draft->used = true;
}

static trace_draft *draft_of(trace_writer *writer, uint32_t thread, uint64_t time_ns) {
    trace_draft *draft = writer->drafts[thread];
    if (draft == NULL)
        draft = writer->drafts[thread] = calloc(1, sizeof *draft);
    if (draft == NULL)
        return NULL;
    if (draft->used && draft->to.at + TRACE_RECORD_MAX > draft->records + sizeof draft->records)
        flush(writer, draft);
    if (!draft->used)
        begin_draft(writer, draft, thread, time_ns);
    return draft;
}

static uint64_t address_of(const trace_event *event) {
    return event->object == UINT32_MAX ? 0 : 8 * ((uint64_t)event->object + 1);
}

void trace_writer_event(trace_writer *writer, const trace_event *event, uint64_t time_ns) {
    trace_draft *draft = draft_of(writer, event->thread, time_ns);
    if (draft == NULL) {
        writer->failed = true;
        return;
    }
    const uint32_t *site = writer->section.flags & TRACE_SITES ? &event->site : NULL;
    uint64_t stamp = ++writer->stamp;
    if (event->kind == TRACE_END)
        trace_encode_end(&draft->to, stamp);
    else if (event->kind == TRACE_FREE)
        trace_encode_free(&draft->to, stamp, address_of(event));
    else
        trace_encode_block(&draft->to, event->kind, stamp, address_of(event), event->size,
                           event->align, site);
    draft->events++;
}

bool trace_writer_end(trace_writer *writer) {
    for (uint32_t i = 0; i < writer->threads; i++) {
        if (writer->drafts[i] != NULL)
            flush(writer, writer->drafts[i]);
        free(writer->drafts[i]);
    }
    free(writer->drafts);
    pad(writer, TRACE_SECTION_BYTES);
    writer->failed |= fseek(writer->out, writer->begin, SEEK_SET) != 0;
    put_header(writer);
    writer->failed |= fseek(writer->out, 0, SEEK_END) != 0 || fflush(writer->out) != 0;
    return !writer->failed;
}
