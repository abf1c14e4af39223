#include "report/figures.h"

#include "base/classes.h"
#include "limits/limit.h"
#include "os/os.h"
#include "pages/epoch.h"
#include "stats/stats.h"

#include <string.h>

static void add_slabs(hak_totals *t, size_t slabs, const hak_class *class) {
    size_t pages = (size_t)class->pages << HAK_PAGE_SHIFT;
    t->slab_bytes += slabs * pages;
    t->tail_bytes += slabs * (pages - (size_t)class->capacity * class->size);
}

static void add_class(hak_totals *t, const hak_snapshot *s, unsigned cls) {
    const hak_class_figures *c = &s->classes[cls];
    const hak_class *class = &hak_classes[cls];
    size_t live = hak_live_blocks(c);
    t->live_blocks += live;
    t->live_bytes += live * class->size;
    t->free_bytes += (c->carved - live) * class->size;
    t->magazine_bytes += c->magazines * class->size;
    t->remote_blocks += c->remote;
    t->remote_bytes += c->remote * class->size;
    t->guarded_bytes += c->guarded * class->size;
    t->rounding_bytes += hak_rounding_guess(s, cls);
    t->returned_bytes += hak_returned_blocks(c) * class->size;
    t->fresh_bytes += hak_fresh_blocks(s, cls) * class->size;
    add_slabs(t, hak_slabs_of(c), class);
}

hak_totals hak_totals_of(const hak_snapshot *s) {
    hak_totals t = {
        .live_blocks = s->large_blocks - s->large_guarded + s->apart_blocks + s->trap_blocks,
        .live_bytes = s->large_bytes - s->large_guarded_bytes + s->apart_bytes + s->trap_bytes,
        .guarded_bytes = s->large_guarded_bytes};
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        add_class(&t, s, cls);
    return t;
}

/* Without a limit there is no figure. */
static size_t limit_bytes(const _Atomic size_t *pages) {
    size_t limit = atomic_load_explicit(pages, memory_order_relaxed);
    return limit == SIZE_MAX ? HAK_UNKNOWN : limit << HAK_PAGE_SHIFT;
}

static size_t known(size_t bytes) {
    return bytes != 0 ? bytes : HAK_UNKNOWN;
}

void hak_figures_of(const hak_snapshot *s, hak_figure figures[HAK_FIGURES]) {
    hak_totals t = hak_totals_of(s);
#define HAK_FIGURE(name, type, help, value)                                                        \
    figures[HAK_FIGURE_##name] = (hak_figure){#name, #type, help, value};
#include "report/figures.def"
#undef HAK_FIGURE
}

void hak_figures_of_class(const hak_snapshot *s, unsigned cls,
                          hak_figure figures[HAK_CLASS_FIGURES]) {
    const hak_class_figures *c = &s->classes[cls];
#define HAK_CLASS_FIGURE(name, help, value)                                                        \
    figures[HAK_CLASS_FIGURE_##name] = (hak_figure){#name, "gauge", help, value};
#include "report/class_figures.def"
#undef HAK_CLASS_FIGURE
}

void hak_figures_of_events(hak_figure figures[HAK_EVENTS]) {
#define HAK_EVENT(name, help)                                                                      \
    figures[HAK_EVENT_##name] = (hak_figure){#name, "counter", help, HAK_COUNTED(name)};
#include "stats/events.def"
#undef HAK_EVENT
}
