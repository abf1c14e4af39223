#include "base/classes.h"
#include "report/figures.h"

/* Prometheus' text format, version 0.0.4. */

static void put_build(hak_text *text) {
    hak_text_add(text,
                 "# HELP hakmem_build_info Which build of the library this is.\n"
                 "# TYPE hakmem_build_info gauge\n"
                 "hakmem_build_info{version=\"" HAK_VERSION "\",variant=\"" HAK_VARIANT_NAME "\"");
    hak_build_put(text, false);
    hak_text_add(text, "} 1\n"
                       "# HELP hakmem_options_info The options that may change, as they are now.\n"
                       "# TYPE hakmem_options_info gauge\n"
                       "hakmem_options_info{");
    hak_options_put(text, false);
    hak_text_add(text, "} 1\n");
}

/* `after` belongs to the name: the formats want that counters end in _total. */
static void put_head(hak_text *text, const hak_figure *f, const char *prefix, const char *after) {
    hak_text_add(text, "# HELP %s%s%s %s\n# TYPE %s%s%s %s\n", prefix, f->name, after, f->help,
                 prefix, f->name, after, f->type);
}

static void put_metrics(hak_text *text, const hak_figure *figures, unsigned count,
                        const char *after) {
    for (const hak_figure *f = figures; f < figures + count; f++) {
        if (f->value == HAK_UNKNOWN)
            continue;
        put_head(text, f, "hakmem_", after);
        hak_text_add(text, "hakmem_%s%s %zu\n", f->name, after, f->value);
    }
}

/* All samples of a metric stand together. */
static void put_class_metrics(hak_text *text, const hak_snapshot *s, unsigned which) {
    hak_figure figures[HAK_CLASS_FIGURES];
    bool any = false;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        if (hak_slabs_of(&s->classes[cls]) == 0)
            continue;
        hak_figures_of_class(s, cls, figures);
        if (figures[which].value == HAK_UNKNOWN)
            return;
        if (!any)
            put_head(text, &figures[which], "hakmem_class_", "");
        any = true;
        hak_text_add(text, "hakmem_class_%s{size=\"%u\"%s} %zu\n", figures[which].name,
                     hak_classes[cls].size, hak_class_is_cold(cls) ? ",cold=\"1\"" : "",
                     figures[which].value);
    }
}

size_t hak_report_prometheus(const hak_snapshot *s, char *buffer, size_t size) {
    hak_text text = {buffer, size, 0, NULL};
    hak_figure figures[HAK_FIGURES], events[HAK_EVENTS];
    put_build(&text);
    hak_figures_of(s, figures);
    put_metrics(&text, figures, HAK_FIGURES, "");
    hak_figures_of_events(events);
    put_metrics(&text, events, HAK_EVENTS, "_total");
    for (unsigned which = 0; which < HAK_CLASS_FIGURES; which++)
        put_class_metrics(&text, s, which);
    return hak_text_end(&text);
}
