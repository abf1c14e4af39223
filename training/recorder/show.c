/* list and rows: a trace as JSON and as an array. */
#include "tool.h"

typedef struct row {
    uint64_t size, before;
    uint32_t object, thread, site;
    uint8_t kind, align;
    uint16_t zero;
} row;

_Static_assert(sizeof(row) == 32, "pipeline/trace/read.py has the same layout");

static void print_text(const char *text, size_t length) {
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\' || c > 0x7e)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static size_t command_length(const trace_section *section) {
    size_t length = TRACE_COMMAND_BYTES;
    while (length > 0 && section->command[length - 1] == '\0')
        length--;
    return length;
}

static void print_number(const char *key, uint64_t value) {
    printf("\"%s\": %llu, ", key, (unsigned long long)value);
}

static void print_part(const trace_part *part) {
    const trace_section *section = part->header;
    uint64_t bytes = 0;
    for (size_t i = 0; i < part->span_count; i++)
        bytes += sizeof(trace_block) +
                 (part->spans[i].state == TRACE_SEALED ? part->spans[i].length : 0);
    printf("\"command\": ");
    print_text(section->command, command_length(section));
    printf(", \"damage\": ");
    print_text(part->damage, strlen(part->damage));
    printf(", ");
    print_number("flags", section->flags);
    print_number("sample", section->sample);
    print_number("pid", section->pid);
    print_number("parent", section->parent);
    print_number("started_ns", section->started_ns);
    print_number("sealed_events", section->events);
    print_number("about_events", trace_about_events(part));
    print_number("sealed_bytes", bytes);
    print_number("lost", section->lost);
    print_number("left_out", section->left_out);
    print_number("recorder_ns", section->recorder_ns);
    print_number("run_ns", section->run_ns);
    print_number("cpu_ns", section->cpu_ns);
    print_number("threads", part->threads);
    printf("\"closed\": %s", section->closed ? "true" : "false");
}

int tool_list(char **arguments) {
    trace_file file;
    if (!tool_open(arguments[0], &file))
        return TOOL_NOT_A_TRACE;
    printf("[");
    for (size_t i = 0; i < file.part_count; i++) {
        printf("%s{", i ? ",\n" : "");
        print_part(&file.parts[i]);
        printf("}");
    }
    printf("]\n");
    trace_close(&file);
    return TOOL_OK;
}

static row row_of(const trace_event *event) {
    return (row){.size = event->size,
                 .before = event->before,
                 .object = event->object,
                 .thread = event->thread,
                 .site = event->site,
                 .kind = (uint8_t)event->kind,
                 .align = (uint8_t)event->align};
}

/* Rows to `out`; on stdout pairs of (number of the event, nanoseconds), one for each block. */
static uint64_t print_rows(trace_objects *objects, FILE *out) {
    trace_event event;
    uint64_t count = 0;
    size_t anchor = SIZE_MAX;
    printf("{\"times\": [");
    for (; trace_objects_next(objects, &event); count++) {
        row line = row_of(&event);
        fwrite(&line, sizeof line, 1, out);
        uint64_t time_ns = trace_order_time(&objects->order);
        if (objects->order.anchor != anchor)
            printf("%s[%llu, %llu]", count ? ", " : "", (unsigned long long)count,
                   (unsigned long long)time_ns);
        anchor = objects->order.anchor;
    }
    if (count > 0)
        printf(", [%llu, %llu]", (unsigned long long)count,
               (unsigned long long)trace_order_time(&objects->order));
    printf("], ");
    return count;
}

static int rows_of_part(trace_part *part, FILE *out) {
    trace_objects objects;
    if (!trace_objects_begin(&objects, part))
        return tool_fail("trace-tool", "no memory", TOOL_FAILED);
    print_number("events", print_rows(&objects, out));
    print_number("objects", objects.objects);
    print_number("foreign", objects.foreign);
    print_number("unseen", objects.unseen);
    print_part(part);
    printf("}\n");
    trace_objects_end(&objects);
    return TOOL_OK;
}

int tool_rows(char **arguments) {
    trace_file file;
    if (!tool_open(arguments[0], &file))
        return TOOL_NOT_A_TRACE;
    trace_part *part = tool_part(&file, arguments[1]);
    FILE *out = part ? fopen(arguments[2], "wb") : NULL;
    int code = out ? rows_of_part(part, out) : TOOL_USAGE;
    if (out != NULL && (ferror(out) | fclose(out)) != 0)
        code = tool_fail(arguments[2], "cannot be written", TOOL_FAILED);
    trace_close(&file);
    return code;
}
