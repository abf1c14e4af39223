#include "reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char nothing[TRACE_BLOCK_ALIGN];

static bool is_section(const trace_file *file, uint64_t offset) {
    if (file->length - offset < TRACE_SECTION_BYTES)
        return false;
    const trace_section *section = (const void *)(file->bytes + offset);
    return memcmp(section->magic, TRACE_MAGIC, sizeof section->magic) == 0 &&
           section->check == trace_section_check(section);
}

static bool is_block(const trace_file *file, uint64_t offset) {
    const trace_block *block = (const void *)(file->bytes + offset);
    return block->magic == TRACE_BLOCK_MAGIC && block->thread < TRACE_THREADS_MAX &&
           block->check == trace_block_check(block);
}

static void note_damage(trace_part *part, const char *what, uint64_t offset) {
    if (!part->damaged)
        snprintf(part->damage, sizeof part->damage, "%s at byte %llu", what,
                 (unsigned long long)offset);
    part->damaged = true;
}

static bool add_span(trace_part *part, trace_span span) {
    if ((part->span_count & (part->span_count - 1)) == 0) { /* full at each power of two */
        size_t room = part->span_count ? 2 * part->span_count : 1;
        trace_span *more = realloc(part->spans, room * sizeof *more);
        if (more == NULL)
            return false;
        part->spans = more;
    }
    part->spans[part->span_count++] = span;
    part->threads = span.thread >= part->threads ? span.thread + 1 : part->threads;
    return true;
}

/* An open block reaches to where the next thing begins; its records end with a zero tag before. */
static uint64_t open_length(const trace_file *file, uint64_t records) {
    uint64_t at = records;
    while (at + TRACE_BLOCK_ALIGN <= file->length && !is_block(file, at) && !is_section(file, at))
        at += TRACE_BLOCK_ALIGN;
    return (at + TRACE_BLOCK_ALIGN > file->length ? file->length : at) - records;
}

static uint64_t used_length(const unsigned char *bytes, uint64_t length) {
    while (length > 0 && bytes[length - 1] == 0)
        length--;
    return length;
}

uint64_t trace_about_events(const trace_part *part) {
    return part->sealed_events + part->open_bytes / TRACE_RECORD_TYPICAL;
}

/* A block that is not sealed, or is but in name, reaches to where the next thing begins. */
static void judge(const trace_file *file, trace_span *span, uint64_t records, uint64_t sum) {
    bool sealed = span->length > 0;
    bool fits = span->length <= TRACE_LENGTH_MAX && span->length <= file->length - records;
    if (sealed && fits && sum == trace_sum(span->records, span->length)) {
        span->state = TRACE_SEALED;
        return;
    }
    span->length = open_length(file, records);
    span->events = 0;
    span->state = sealed                                     ? TRACE_SPOILT
                  : span->length == 0 || *span->records == 0 ? TRACE_EMPTY
                                                             : TRACE_OPEN;
}

/* Returns the offset behind the block. */
static uint64_t read_block(const trace_file *file, trace_part *part, uint64_t offset) {
    const trace_block *block = (const void *)(file->bytes + offset);
    uint64_t records = offset + sizeof *block;
    trace_span span = {.records = file->bytes + records,
                       .length = block->length,
                       .stamp = block->stamp,
                       .address = block->address,
                       .time_ns = block->time_ns,
                       .events = block->events,
                       .thread = block->thread};
    judge(file, &span, records, block->sum);
    if (!add_span(part, span))
        note_damage(part, "no memory to read on", offset);
    return records + (span.length + TRACE_BLOCK_ALIGN - 1) / TRACE_BLOCK_ALIGN * TRACE_BLOCK_ALIGN;
}

/* Between blocks there are zeros. Anything else was a header once, or a block's body behind one
 * that could not be read. */
static uint64_t read_part(const trace_file *file, trace_part *part, uint64_t offset) {
    while (offset + TRACE_BLOCK_ALIGN <= file->length && !is_section(file, offset)) {
        if (is_block(file, offset)) {
            offset = read_block(file, part, offset);
            continue;
        }
        if (memcmp(file->bytes + offset, nothing, sizeof nothing) != 0)
            note_damage(part, "no block begins where one should", offset);
        offset += TRACE_BLOCK_ALIGN;
    }
    return offset;
}

static bool same_block(const trace_span *a, const trace_span *b) {
    return a->thread == b->thread && a->stamp == b->stamp;
}

/* Of one block the best copy first. */
static int by_thread_then_stamp(const void *left, const void *right) {
    const trace_span *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->stamp != b->stamp)
        return a->stamp < b->stamp ? -1 : 1;
    return (a->state < b->state) - (a->state > b->state);
}

static void note_spoilt(const trace_file *file, trace_part *part, uint64_t offset) {
    const trace_block *block = (const void *)(file->bytes + offset);
    bool cut_off = block->length > file->length - offset - sizeof *block;
    note_damage(part,
                cut_off                            ? "a block is cut off"
                : block->length > TRACE_LENGTH_MAX ? "a block is longer than any"
                                                   : "the checksum of a block is wrong",
                offset);
}

/* Leaves one copy of each block, and none that is spoilt: that is the damage. */
static void keep_best(const trace_file *file, trace_part *part) {
    size_t kept = 0;
    for (size_t i = 0; i < part->span_count; i++) {
        trace_span *span = &part->spans[i];
        if (i > 0 && same_block(span, span - 1))
            continue;
        if (span->state == TRACE_SPOILT)
            note_spoilt(file, part, (uint64_t)(span->records - file->bytes) - sizeof(trace_block));
        else
            part->spans[kept++] = *span;
    }
    part->span_count = kept;
}

/* Totals grow after blocks are sealed: what they count must be there. */
static void finish_part(const trace_file *file, trace_part *part, uint64_t end) {
    if (part->span_count > 0)
        qsort(part->spans, part->span_count, sizeof *part->spans, by_thread_then_stamp);
    keep_best(file, part);
    for (size_t i = 0; i < part->span_count; i++) {
        const trace_span *span = &part->spans[i];
        part->sealed_events += span->events;
        if (span->state == TRACE_OPEN)
            part->open_bytes += used_length(span->records, span->length);
    }
    if (part->sealed_events < part->header->events && (part->header->flags & TRACE_RING) == 0)
        note_damage(part, "events are missing, the last block ends", end);
}

static bool read_parts(trace_file *file, char error[TRACE_TEXT]) {
    uint64_t offset = 0;
    while (offset < file->length && is_section(file, offset)) {
        trace_part *parts = realloc(file->parts, (file->part_count + 1) * sizeof *parts);
        if (parts == NULL || file->part_count == TRACE_SECTIONS_MAX) {
            snprintf(error, TRACE_TEXT, "too many processes in one file");
            return false;
        }
        file->parts = parts;
        trace_part *part = &parts[file->part_count++];
        *part = (trace_part){.header = (const void *)(file->bytes + offset), .offset = offset};
        offset = read_part(file, part, offset + TRACE_SECTION_BYTES);
        if (offset < file->length && !is_section(file, offset)) {
            note_damage(part, "the file is cut off", file->length);
            offset = file->length;
        }
        finish_part(file, part, offset);
    }
    return true;
}

static bool is_known(const trace_section *section) {
    return section->version >= TRACE_VERSION_OLDEST && section->version <= TRACE_VERSION;
}

/* Says why a file is not a trace: the commonest reasons by name. */
static bool explain(const trace_file *file, char error[TRACE_TEXT]) {
    const trace_section *section = (const void *)file->bytes;
    if (file->length < TRACE_SECTION_BYTES ||
        memcmp(section->magic, TRACE_MAGIC, sizeof section->magic) != 0)
        snprintf(error, TRACE_TEXT, "not a trace: it does not begin with " TRACE_MAGIC);
    else if (!is_known(section))
        snprintf(error, TRACE_TEXT, "trace format version %u; this program reads %d to %d",
                 section->version, TRACE_VERSION_OLDEST, TRACE_VERSION);
    else
        snprintf(error, TRACE_TEXT, "the header of the file is damaged");
    return false;
}

static bool map_file(const char *path, trace_file *file) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (good && status.st_size > 0) {
        file->length = (size_t)status.st_size;
        file->bytes = mmap(NULL, file->length, PROT_READ, MAP_PRIVATE, descriptor, 0);
        good = file->bytes != MAP_FAILED;
    }
    if (descriptor >= 0)
        close(descriptor);
    return good;
}

bool trace_open(const char *path, trace_file *file, char error[TRACE_TEXT]) {
    *file = (trace_file){0};
    if (!map_file(path, file)) {
        snprintf(error, TRACE_TEXT, "cannot be read");
        return false;
    }
    if (!is_section(file, 0) || !is_known((const void *)file->bytes))
        return explain(file, error);
    return read_parts(file, error);
}

void trace_close(trace_file *file) {
    for (size_t i = 0; i < file->part_count; i++)
        free(file->parts[i].spans);
    free(file->parts);
    if (file->length > 0)
        munmap((void *)(uintptr_t)file->bytes, file->length);
    *file = (trace_file){0};
}
