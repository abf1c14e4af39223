/* cut, merge and anonymise: traces made from traces. */
#include "tool.h"

#include <stdlib.h>

typedef struct source {
    trace_part *part;
    trace_objects objects;
    trace_event event;
    uint64_t time_ns;
    uint32_t first_object, first_thread; /* what its numbers are raised by in a merged trace */
    bool done;
} source;

static int finish(trace_writer *writer, FILE *out, const char *path) {
    bool good = trace_writer_end(writer);
    if (fclose(out) != 0 || !good)
        return tool_fail(path, "cannot be written", TOOL_FAILED);
    return TOOL_OK;
}

static bool is_birth(const trace_event *event) {
    return event->kind <= TRACE_ALIGNED;
}

/* ---- cut ---- */

/* Births of what lives when the cut begins, as they were resized since: they open the new trace. */
typedef struct living {
    trace_event *births; /* by object */
    size_t room;
} living;

static bool follow(living *alive, const trace_event *event) {
    if (event->object == UINT32_MAX)
        return true;
    if (event->object >= alive->room) {
        size_t room = alive->room ? 2 * alive->room : 4096;
        trace_event *more = realloc(alive->births, room * sizeof *more);
        if (more == NULL)
            return false;
        memset(more + alive->room, 0, (room - alive->room) * sizeof *more);
        alive->births = more;
        alive->room = room;
    }
    trace_event *birth = &alive->births[event->object];
    if (is_birth(event))
        *birth = *event;
    else if (event->kind == TRACE_REALLOC)
        birth->size = event->size;
    else
        *birth = (trace_event){0};
    return true;
}

static void open_with(const living *alive, trace_writer *writer, uint64_t time_ns) {
    for (size_t i = 0; i < alive->room; i++)
        if (alive->births[i].kind != 0)
            trace_writer_event(writer, &alive->births[i], time_ns);
}

static bool copy_range(trace_objects *objects, trace_writer *writer, uint64_t first,
                       uint64_t last) {
    trace_event event;
    living alive = {0};
    bool good = true;
    for (uint64_t at = 0; good && at <= last && trace_objects_next(objects, &event); at++) {
        if (at < first) {
            good = follow(&alive, &event);
            continue;
        }
        if (at == first)
            open_with(&alive, writer, trace_order_time(&objects->order));
        trace_writer_event(writer, &event, trace_order_time(&objects->order));
    }
    free(alive.births);
    return good;
}

static int cut(trace_part *part, uint64_t first, uint64_t last, const char *path) {
    trace_objects objects;
    trace_writer writer;
    FILE *out = tool_create(path);
    if (out == NULL)
        return tool_fail(path, "cannot be written", TOOL_FAILED);
    if (!trace_objects_begin(&objects, part) ||
        !trace_writer_begin(&writer, out, part->header, part->threads) ||
        !copy_range(&objects, &writer, first, last))
        return tool_fail(path, "cannot be written, or no memory", TOOL_FAILED);
    trace_objects_end(&objects);
    return finish(&writer, out, path);
}

int tool_cut(char **arguments) {
    trace_file file;
    if (!tool_open(arguments[0], &file))
        return TOOL_NOT_A_TRACE;
    trace_part *part = tool_part(&file, arguments[1]);
    int code = part ? cut(part, strtoull(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10),
                          arguments[4])
                    : TOOL_USAGE;
    trace_close(&file);
    return code;
}

/* ---- merge ---- */

/* Wall time is what processes, and hosts, have in common. */
static void advance(source *from) {
    from->done = !trace_objects_next(&from->objects, &from->event);
    if (from->done)
        return;
    from->time_ns = from->part->header->started_ns + trace_order_time(&from->objects.order);
    from->event.thread += from->first_thread;
    if (from->event.object != UINT32_MAX)
        from->event.object += from->first_object;
}

static source *earliest(source *sources, size_t count) {
    source *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (!sources[i].done && (found == NULL || sources[i].time_ns < found->time_ns))
            found = &sources[i];
    return found;
}

/* Objects are numbered by birth, so how many a part has is known after a first pass alone. */
static uint32_t count_objects(trace_part *part) {
    trace_objects objects;
    trace_event event;
    if (!trace_objects_begin(&objects, part))
        return 0;
    while (trace_objects_next(&objects, &event))
        continue;
    uint32_t count = objects.objects;
    trace_objects_end(&objects);
    return count;
}

static bool open_sources(source *sources, trace_file *files, size_t count, uint32_t *threads) {
    uint32_t objects = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < files[i].part_count; j++) {
            source *from = &sources[used++];
            *from = (source){
                .part = &files[i].parts[j], .first_object = objects, .first_thread = *threads};
            if (!trace_objects_begin(&from->objects, from->part))
                return false;
            advance(from);
            objects += count_objects(from->part);
            *threads += from->part->threads;
        }
    return true;
}

/* Sites are kept only if all have them. */
static trace_section merged_header(const source *sources, size_t count) {
    trace_section section = *sources[0].part->header;
    for (size_t i = 1; i < count; i++) {
        const trace_section *other = sources[i].part->header;
        section.flags &= other->flags | ~(uint32_t)TRACE_SITES;
        section.lost += other->lost;
        section.left_out += other->left_out;
        section.cpu_ns += other->cpu_ns;
        if (other->started_ns < section.started_ns)
            section.started_ns = other->started_ns;
        if (other->sample > section.sample)
            section.sample = other->sample;
    }
    return section;
}

static int merge(source *sources, size_t count, uint32_t threads, const char *path) {
    trace_writer writer;
    trace_section header = merged_header(sources, count);
    FILE *out = tool_create(path);
    if (out == NULL || !trace_writer_begin(&writer, out, &header, threads))
        return tool_fail(path, "cannot be written", TOOL_FAILED);
    for (source *from; (from = earliest(sources, count)) != NULL; advance(from)) {
        uint64_t time_ns = from->time_ns - header.started_ns;
        trace_writer_event(&writer, &from->event, time_ns);
        if (time_ns > writer.section.run_ns)
            writer.section.run_ns = time_ns;
    }
    return finish(&writer, out, path);
}

int tool_merge(char **arguments) {
    size_t count = 0, parts = 0;
    while (arguments[1 + count] != NULL)
        count++;
    trace_file *files = calloc(count, sizeof *files);
    for (size_t i = 0; files && i < count; i++) {
        if (!tool_open(arguments[1 + i], &files[i]))
            return TOOL_NOT_A_TRACE;
        parts += files[i].part_count;
    }
    source *sources = calloc(parts, sizeof *sources);
    uint32_t threads = 0;
    if (!files || !sources || !open_sources(sources, files, count, &threads))
        return tool_fail("trace-tool", "no memory", TOOL_FAILED);
    return merge(sources, parts, threads, arguments[0]);
}

/* ---- anonymise ---- */

static trace_section nameless(const trace_section *header) {
    trace_section section = *header;
    section.flags &= ~(uint32_t)TRACE_SITES;
    section.pid = section.parent = section.started_ns = section.cpu_ns = section.run_ns = 0;
    memset(section.command, 0, sizeof section.command);
    return section;
}

static bool anonymise(trace_part *part, FILE *out) {
    trace_section header = nameless(part->header);
    trace_objects objects;
    trace_writer writer;
    trace_event event;
    if (!trace_objects_begin(&objects, part) ||
        !trace_writer_begin(&writer, out, &header, part->threads))
        return false;
    while (trace_objects_next(&objects, &event))
        trace_writer_event(&writer, &event, 0);
    trace_objects_end(&objects);
    return trace_writer_end(&writer);
}

int tool_anonymise(char **arguments) {
    trace_file file;
    if (!tool_open(arguments[0], &file))
        return TOOL_NOT_A_TRACE;
    FILE *out = tool_create(arguments[1]);
    bool good = out != NULL;
    for (size_t i = 0; good && i < file.part_count; i++)
        good = anonymise(&file.parts[i], out);
    if (out != NULL && fclose(out) != 0)
        good = false;
    trace_close(&file);
    return good ? TOOL_OK : tool_fail(arguments[1], "cannot be written", TOOL_FAILED);
}
