/* The reported figures, by name: what JSON, Prometheus' text and the tables of the docs have in
 * common. */
#pragma once

#include "base/text.h"
#include "report/snapshot.h"

typedef struct hak_figure {
    const char *name, *type, *help;
    size_t value; /* HAK_UNKNOWN: nobody knows */
} hak_figure;

/* Sums over the classes; what is live has large blocks, too. */
typedef struct hak_totals {
    size_t live_blocks, live_bytes, magazine_bytes, remote_blocks, remote_bytes;
    size_t guarded_bytes, slab_bytes, returned_bytes, fresh_bytes, tail_bytes, rounding_bytes;
    size_t free_bytes; /* handed out before, wherever they are now */
} hak_totals;
hak_totals hak_totals_of(const hak_snapshot *s);

enum {
#define HAK_FIGURE(name, type, help, value) HAK_FIGURE_##name,
#include "report/figures.def"
#undef HAK_FIGURE
    HAK_FIGURES,
#define HAK_CLASS_FIGURE(name, help, value) HAK_CLASS_FIGURE_##name,
    HAK_CLASS_FIGURES_BEGIN = -1,
#include "report/class_figures.def"
#undef HAK_CLASS_FIGURE
    HAK_CLASS_FIGURES,
#define HAK_EVENT(name, help) HAK_EVENT_##name,
    HAK_EVENTS_BEGIN = -1,
#include "stats/events.def"
#undef HAK_EVENT
    HAK_EVENTS
};

/* The system is asked for some of them: how much is resident, which faults there were. */
void hak_figures_of(const hak_snapshot *s, hak_figure figures[HAK_FIGURES]);
void hak_figures_of_class(const hak_snapshot *s, unsigned cls,
                          hak_figure figures[HAK_CLASS_FIGURES]);
void hak_figures_of_events(hak_figure figures[HAK_EVENTS]);

/* The texts of a snapshot. The caller's buffer is filled as by snprintf. */
size_t hak_report_json(const hak_snapshot *s, char *buffer, size_t size);
size_t hak_report_prometheus(const hak_snapshot *s, char *buffer, size_t size);

/* Members of a JSON object, or labels: which build it is, and the options that may change while the
 * program runs. A share stands as it was given: "80%". */
void hak_build_put(hak_text *text, bool json);
void hak_options_put(hak_text *text, bool json);
