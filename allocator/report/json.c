#include "base/classes.h"
#include "base/text.h"
#include "os/calls.h"
#include "report/build.h"
#include "report/figures.h"
#include "report/formats.h"

static void put_one(hak_text *text, const char *name, size_t value) {
    HAK_TEXT_ADD(text, "\"", name, "\":");
    if (value != HAK_UNKNOWN)
        hak_text_number(text, value);
    else
        HAK_TEXT_ADD(text, "null");
}

/* "name":value for each of them; the comma stands in front of all but the first. */
static void put_members(hak_text *text, const hak_figure *figures, unsigned count, bool first) {
    for (unsigned i = 0; i < count; i++, first = false) {
        HAK_TEXT_ADD(text, first ? "" : ",");
        put_one(text, figures[i].name, figures[i].value);
    }
}

static void put_build(hak_text *text) {
    hak_label labels[HAK_LABELS];
    char digits[HAK_BUILD_ID_ROOM];
    hak_build_labels(labels, digits);
    for (unsigned i = 0; i < HAK_LABELS; i++) {
        const char *value = labels[i].value, *quote = value != NULL ? "\"" : "";
        HAK_TEXT_ADD(text, i == 0 ? ",\n\"build\":{\"" : ",\"", labels[i].name, "\":", quote,
                     value != NULL ? value : "null", quote);
    }
    HAK_TEXT_ADD(text, "}");
}

static void put_options(hak_text *text) {
    HAK_TEXT_ADD(text, ",\n\"options\":{");
    hak_options_put(text, "\"", ":");
    HAK_TEXT_ADD(text, "}");
}

static void put_totals(hak_text *text, const hak_snapshot *s) {
    hak_figure figures[HAK_FIGURES];
    hak_figures_of(s, figures);
    HAK_TEXT_ADD(text, ",\n\"figures\":{");
    put_members(text, figures, HAK_FIGURES, true);
}

static void put_events(hak_text *text) {
    hak_figure figures[HAK_EVENTS];
    hak_figures_of_events(figures);
    HAK_TEXT_ADD(text, "},\n\"events\":{");
    put_members(text, figures, HAK_EVENTS, true);
}

static void put_class(hak_text *text, const hak_snapshot *s, unsigned cls, const char *before) {
    hak_figure figures[HAK_CLASS_FIGURES];
    hak_figures_of_class(s, cls, figures);
    HAK_TEXT_ADD(text, before, "\n{");
    put_one(text, "size", hak_classes[cls].size);
    HAK_TEXT_ADD(text, ",");
    put_one(text, "slab_bytes", (size_t)hak_classes[cls].pages << HAK_PAGE_SHIFT);
    HAK_TEXT_ADD(text, ",\"cold\":", hak_class_is_cold(cls) ? "true" : "false");
    put_members(text, figures, HAK_CLASS_FIGURES, false);
    HAK_TEXT_ADD(text, "}");
}

static void put_class_members(hak_text *text, const hak_snapshot *s) {
    const char *before = "";
    HAK_TEXT_ADD(text, "},\n\"classes\":[");
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_slabs_of(&s->classes[cls]) != 0) {
            put_class(text, s, cls, before);
            before = ",";
        }
}

static const char *name_of(enum hak_heap_state state) {
    return state == HAK_HEAP_ACTIVE ? "active" : state == HAK_HEAP_FROZEN ? "frozen" : "idle";
}

typedef struct caches {
    hak_text *text;
    const char *before;
} caches;

static void put_cache(const hak_cache_figures *cache, void *context) {
    caches *all = context;
    hak_text *text = all->text;
    HAK_TEXT_ADD(text, all->before, "\n{");
    put_one(text, "thread", cache->thread != 0 ? cache->thread : HAK_UNKNOWN);
    HAK_TEXT_ADD(text, ",\"state\":\"", name_of(cache->state), "\",");
    put_one(text, "magazine_blocks", cache->blocks);
    HAK_TEXT_ADD(text, ",");
    put_one(text, "magazine_bytes", cache->bytes);
    HAK_TEXT_ADD(text, ",");
    put_one(text, "cached_runs", cache->runs);
    HAK_TEXT_ADD(text, ",\"has_mail\":", cache->has_mail ? "true" : "false", "}");
    all->before = ",";
}

size_t hak_report_json(const hak_snapshot *s, char *buffer, size_t size) {
    hak_text text = {buffer, size, 0};
    HAK_TEXT_ADD(&text, "{\"hakmem\":\"" HAK_VERSION "\",\"variant\":\"" HAK_VARIANT_NAME "\",");
    put_one(&text, "process", (size_t)hak_call_process());
    put_build(&text);
    put_options(&text);
    put_totals(&text, s);
    put_events(&text);
    put_class_members(&text, s);
    HAK_TEXT_ADD(&text, "\n],\n\"heaps\":[");
    hak_snapshot_caches(put_cache, &(caches){&text, ""});
    HAK_TEXT_ADD(&text, "\n]}\n");
    return hak_text_end(&text);
}
