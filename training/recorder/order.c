/* The records of all threads in one order: a heap of streams, one per thread. */
#include "encode.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t get(trace_stream *stream, unsigned width) {
    uint64_t value = 0;
    memcpy(&value, stream->at, trace_width_bytes(width));
    stream->at += trace_width_bytes(width);
    return value;
}

static uint64_t get_address(trace_stream *stream, unsigned tag) {
    uint64_t zigzag = get(stream, (tag >> TRACE_ADDRESS_SHIFT) & 3);
    uint64_t step = (zigzag >> 1) ^ (0 - (zigzag & 1));
    return stream->address += step << 3;
}

static uint64_t get_stamp(trace_stream *stream, unsigned tag) {
    uint64_t step = 0;
    if (tag & TRACE_STAMP_BIT)
        for (unsigned shift = 0; shift < 63; shift += 7) {
            step |= (uint64_t)(*stream->at & 0x7f) << shift;
            if ((*stream->at++ & 0x80) == 0)
                break;
        }
    return stream->stamp += step + 1;
}

static uint32_t get_site(trace_stream *stream, bool sites) {
    uint32_t site = 0;
    if (sites) {
        memcpy(&site, stream->at, 3);
        stream->at += 3;
    }
    return site;
}

static void get_moved(trace_stream *stream, bool sites) {
    trace_record *record = &stream->record;
    unsigned tag = *stream->at++;
    stream->moved = *record;
    record->gone = stream->pending = true;
    stream->moved.stamp = get_stamp(stream, tag);
    stream->moved.address = get_address(stream, tag);
    stream->moved.site = get_site(stream, sites);
}

/* The record at stream->at. The caller has seen that TRACE_RECORD_MAX bytes are there. */
static void get_record(trace_stream *stream, unsigned tag, bool sites) {
    trace_record *record = &stream->record;
    unsigned kind = tag & 7, width = tag >> TRACE_SIZE_SHIFT;
    stream->at++;
    *record = (trace_record){.kind = (trace_kind)kind, .thread = record->thread};
    record->stamp = get_stamp(stream, tag);
    if (kind == TRACE_END || (kind == TRACE_FREE && width == TRACE_NULL))
        return;
    record->address = get_address(stream, tag);
    if (kind == TRACE_FREE)
        return;
    record->size = get(stream, width);
    if (kind == TRACE_ALIGNED)
        record->align = *stream->at++ & 63;
    if (kind == TRACE_MOVE)
        get_moved(stream, sites);
    else
        record->site = get_site(stream, sites);
}

/* The last records of a span are decoded in a copy with zeros behind it, so that no record, and
 * none that damage has made up, reaches out of the file. */
static bool get_last_record(trace_stream *stream, unsigned tag, bool sites) {
    unsigned char copy[3 * TRACE_RECORD_MAX] = {0};
    size_t left = (size_t)(stream->end - stream->at);
    const unsigned char *from = stream->at;
    memcpy(copy, from, left);
    stream->at = copy;
    get_record(stream, tag, sites);
    size_t taken = (size_t)(stream->at - copy);
    stream->at = from + (taken < left ? taken : left);
    return taken <= left;
}

static bool next_span(trace_stream *stream) {
    if (stream->next_span == stream->end_span)
        return false;
    const trace_span *span = stream->next_span++;
    stream->at = span->records;
    stream->end = span->records + span->length;
    stream->stamp = span->stamp;
    stream->address = span->address;
    stream->record.thread = span->thread;
    return true;
}

/* False at the end of the thread. */
static bool advance(trace_order *order, trace_stream *stream) {
    bool sites = order->part->header->flags & TRACE_SITES;
    if (stream->pending) {
        stream->record = stream->moved;
        stream->pending = false;
        return true;
    }
    while (stream->at == stream->end || *stream->at == 0)
        if (!next_span(stream))
            return false;
    unsigned tag = *stream->at;
    if (stream->end - stream->at >= TRACE_RECORD_MAX) {
        get_record(stream, tag, sites);
        return true;
    }
    return get_last_record(stream, tag, sites);
}

static uint64_t stamp_of(const trace_order *order, uint32_t at) {
    return order->streams[order->heap[at]].record.stamp;
}

static void sift_down(trace_order *order) {
    uint32_t at = 0;
    for (;;) {
        uint32_t least = at, left = 2 * at + 1;
        for (uint32_t child = left; child < order->count && child <= left + 1; child++)
            if (stamp_of(order, child) < stamp_of(order, least))
                least = child;
        if (least == at)
            return;
        uint32_t kept = order->heap[at];
        order->heap[at] = order->heap[least];
        order->heap[least] = kept;
        at = least;
    }
}

static void sift_up(trace_order *order, uint32_t at) {
    for (; at > 0 && stamp_of(order, at) < stamp_of(order, (at - 1) / 2); at = (at - 1) / 2) {
        uint32_t kept = order->heap[at];
        order->heap[at] = order->heap[(at - 1) / 2];
        order->heap[(at - 1) / 2] = kept;
    }
}

static int by_stamp(const void *left, const void *right) {
    const trace_span *a = *(const trace_span *const *)left, *b = *(const trace_span *const *)right;
    return (a->stamp > b->stamp) - (a->stamp < b->stamp);
}

static void set_streams(trace_order *order) {
    trace_part *part = order->part;
    for (size_t first = 0, last; first < part->span_count; first = last) {
        for (last = first; last < part->span_count; last++)
            if (part->spans[last].thread != part->spans[first].thread)
                break;
        uint32_t number = order->count;
        trace_stream *stream = &order->streams[number];
        *stream = (trace_stream){.next_span = &part->spans[first], .end_span = &part->spans[last]};
        if (!next_span(stream) || !advance(order, stream))
            continue;
        order->heap[order->count++] = number;
        sift_up(order, number);
    }
}

bool trace_order_begin(trace_order *order, trace_part *part) {
    *order = (trace_order){.part = part};
    order->streams = calloc(part->threads + 1, sizeof *order->streams);
    order->heap = calloc(part->threads + 1, sizeof *order->heap);
    order->anchors = calloc(part->span_count + 1, sizeof(trace_span *));
    if (!order->streams || !order->heap || !order->anchors)
        return false;
    for (size_t i = 0; i < part->span_count; i++)
        order->anchors[i] = &part->spans[i];
    if (part->span_count > 0)
        qsort(order->anchors, part->span_count, sizeof(trace_span *), by_stamp);
    set_streams(order);
    return true;
}

/* A batch that is not used up is followed by the next one. */
static bool follows(const trace_order *order, uint64_t stamp) {
    if (stamp == order->last + 1)
        return true;
    return (order->part->header->flags & TRACE_BATCHES) != 0 && stamp % TRACE_BATCH == 0 &&
           stamp / TRACE_BATCH == order->last / TRACE_BATCH + 1;
}

/* Damage has lost records: from the first that is missing on, nothing is sure. */
static bool stops_here(const trace_order *order, uint64_t stamp) {
    const trace_part *part = order->part;
    return part->damaged && (part->header->flags & TRACE_RING) == 0 && !follows(order, stamp);
}

const trace_record *trace_order_next(trace_order *order) {
    if (order->advance && order->count > 0) {
        if (!advance(order, &order->streams[order->heap[0]]))
            order->heap[0] = order->heap[--order->count];
        sift_down(order);
    }
    order->advance = true;
    if (order->count == 0 || stops_here(order, stamp_of(order, 0)))
        return NULL;
    order->last = stamp_of(order, 0);
    return &order->streams[order->heap[0]].record;
}

static uint64_t last_stamp(const trace_section *section) {
    return section->last_stamp ? section->last_stamp : section->events;
}

uint64_t trace_order_time(trace_order *order) {
    const trace_part *part = order->part;
    while (order->anchor + 1 < part->span_count &&
           order->anchors[order->anchor + 1]->stamp < order->last)
        order->anchor++;
    const trace_span *from = order->anchors[order->anchor];
    bool last = order->anchor + 1 == part->span_count;
    uint64_t stamp = last ? last_stamp(part->header) : order->anchors[order->anchor + 1]->stamp;
    uint64_t time = last ? part->header->run_ns : order->anchors[order->anchor + 1]->time_ns;
    if (time <= from->time_ns || stamp <= from->stamp || order->last <= from->stamp)
        return from->time_ns;
    double share = (double)(order->last - from->stamp) / (double)(stamp - from->stamp);
    share = share > 1 ? 1 : share;
    return from->time_ns + (uint64_t)(share * (double)(time - from->time_ns));
}

void trace_order_end(trace_order *order) {
    free(order->streams);
    free(order->heap);
    free(order->anchors);
    *order = (trace_order){0};
}
