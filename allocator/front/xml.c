/* malloc_info: glibc's shape where it has one, then our figures. */
#include "base/classes.h"
#include "front/usage.h"
#include "report/figures.h"

static size_t free_blocks(const hak_class_figures *c) {
    return c->carved - hak_live_blocks(c);
}

/* As glibc's: what is free, size by size. */
static void write_sizes(const hak_snapshot *s, FILE *stream) {
    fputs("<heap nr=\"0\">\n<sizes>\n", stream);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        size_t count = free_blocks(&s->classes[cls]), size = hak_classes[cls].size;
        if (count != 0)
            fprintf(stream, "  <size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\"/>\n",
                    hak_size_below(cls) + 1, size, count * size, count);
    }
    fputs("</sizes>\n", stream);
}

typedef struct sum {
    size_t count, bytes;
} sum;

static void write_total(const char *type, sum of, FILE *stream) {
    fprintf(stream, "<total type=\"%s\" count=\"%zu\" size=\"%zu\"/>\n", type, of.count, of.bytes);
}

static void add(sum *to, size_t count, size_t size) {
    to->count += count;
    to->bytes += count * size;
}

/* What is quick to have ("fast"), and the rest. */
static void write_free(const hak_snapshot *s, FILE *stream) {
    sum fast = {0}, rest = {0};
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        size_t cached = s->classes[cls].magazines, all = free_blocks(&s->classes[cls]);
        add(&fast, cached, hak_classes[cls].size);
        add(&rest, all > cached ? all - cached : 0, hak_classes[cls].size);
    }
    add(&fast, s->cached_runs, 0);
    fast.bytes += s->cached_pages << HAK_PAGE_SHIFT;
    write_total("fast", fast, stream);
    write_total("rest", rest, stream);
}

static void write_system(const hak_usage *u, FILE *stream) {
    fprintf(stream, "<system type=\"current\" size=\"%zu\"/>\n", u->committed);
    fprintf(stream, "<aspace type=\"total\" size=\"%zu\"/>\n", u->reserved);
}

static void write_figures(const hak_figure *figures, unsigned count, FILE *stream) {
    for (const hak_figure *f = figures; f < figures + count; f++)
        if (f->value != HAK_UNKNOWN)
            fprintf(stream, "<figure name=\"%s\" value=\"%zu\"/>\n", f->name, f->value);
}

static void write_class(const hak_snapshot *s, unsigned cls, FILE *stream) {
    hak_figure figures[HAK_CLASS_FIGURES];
    hak_figures_of_class(s, cls, figures);
    fprintf(stream, "<class size=\"%u\"%s", hak_classes[cls].size,
            hak_class_is_cold(cls) ? " cold=\"1\"" : "");
    for (const hak_figure *f = figures; f < figures + HAK_CLASS_FIGURES; f++)
        if (f->value != HAK_UNKNOWN)
            fprintf(stream, " %s=\"%zu\"", f->name, f->value);
    fputs("/>\n", stream);
}

static void write_ours(const hak_snapshot *s, FILE *stream) {
    hak_figure figures[HAK_FIGURES], events[HAK_EVENTS];
    hak_figures_of(s, figures);
    hak_figures_of_events(events);
    write_figures(events, HAK_EVENTS, stream);
    write_figures(figures, HAK_FIGURES, stream);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_slabs_of(&s->classes[cls]) != 0)
            write_class(s, cls, stream);
}

/* The heap, and then all heaps, of which there is one. */
static void write_theirs(const hak_snapshot *s, FILE *stream) {
    sum mapped = {s->large_blocks + s->apart_blocks, s->large_bytes + s->apart_bytes};
    hak_usage u;
    hak_usage_of(&u, s);
    write_sizes(s, stream);
    write_free(s, stream);
    write_system(&u, stream);
    fputs("</heap>\n", stream);
    write_free(s, stream);
    write_total("mmap", mapped, stream);
    write_system(&u, stream);
}

void hak_usage_write_xml(const hak_snapshot *s, FILE *stream) {
    fputs("<malloc version=\"1\" allocator=\"hakmem " HAK_VERSION "\">\n", stream);
    write_theirs(s, stream);
    write_ours(s, stream);
    fputs("</malloc>\n", stream);
}
