#include "base/classes.h"
#include "heap/seat.h"
#include "os/calls.h"
#include "report/figures.h"

static void put_one(hak_text *text, const char *before, const char *name, size_t value) {
    hak_text_add(text, "%s\"%s\":", before, name);
    hak_text_add(text, value != HAK_UNKNOWN ? "%zu" : "null", value);
}

/* "name":value for each of them; a comma stands in front of all but the first. */
static void put_members(hak_text *text, const char *before, const hak_figure *figures,
                        unsigned count) {
    for (unsigned i = 0; i < count; i++, before = ",")
        put_one(text, before, figures[i].name, figures[i].value);
}

static void put_totals(hak_text *text, const hak_snapshot *s) {
    hak_figure figures[HAK_FIGURES], events[HAK_EVENTS];
    hak_figures_of(s, figures);
    hak_figures_of_events(events);
    put_members(text, "},\n\"figures\":{", figures, HAK_FIGURES);
    put_members(text, "},\n\"events\":{", events, HAK_EVENTS);
}

static void put_class(hak_text *text, const hak_snapshot *s, unsigned cls, const char *before) {
    hak_figure figures[HAK_CLASS_FIGURES];
    hak_figures_of_class(s, cls, figures);
    hak_text_add(text, "%s\n{\"size\":%u,\"slab_bytes\":%zu,\"cold\":%s", before,
                 hak_classes[cls].size, (size_t)hak_classes[cls].pages << HAK_PAGE_SHIFT,
                 hak_class_is_cold(cls) ? "true" : "false");
    put_members(text, ",", figures, HAK_CLASS_FIGURES);
    hak_text_add(text, "}");
}

static void put_class_members(hak_text *text, const hak_snapshot *s) {
    const char *before = "";
    hak_text_add(text, "},\n\"classes\":[");
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_slabs_of(&s->classes[cls]) != 0) {
            put_class(text, s, cls, before);
            before = ",";
        }
}

static const char *name_of(enum hak_heap_state state) {
    return state == HAK_HEAP_ACTIVE ? "active" : state == HAK_HEAP_FROZEN ? "frozen" : "idle";
}

static void put_cache(hak_text *text, const hak_cache_figures *cache, const char *before) {
    put_one(text, before, "thread", cache->thread != 0 ? cache->thread : HAK_UNKNOWN);
    hak_text_add(text,
                 ",\"state\":\"%s\",\"magazine_blocks\":%zu,\"magazine_bytes\":%zu,"
                 "\"cached_runs\":%zu,\"has_mail\":%s}",
                 name_of(cache->state), cache->blocks, cache->bytes, cache->runs,
                 cache->has_mail ? "true" : "false");
}

static void put_caches(hak_text *text) {
    const char *before = "\n{";
    hak_text_add(text, "\n],\n\"heaps\":[");
    HAK_EACH_SEAT(seat)
        if (hak_seat_has_heap(seat)) {
            hak_cache_figures cache = hak_cache_figures_of(seat);
            put_cache(text, &cache, before);
            before = ",\n{";
        }
}

size_t hak_report_json(const hak_snapshot *s, char *buffer, size_t size) {
    hak_text text = {buffer, size, 0, NULL};
    hak_text_add(&text,
                 "{\"hakmem\":\"" HAK_VERSION "\",\"variant\":\"" HAK_VARIANT_NAME
                 "\",\"process\":%u",
                 (unsigned)hak_call_process());
    hak_text_add(&text, ",\n\"build\":{");
    hak_build_put(&text, true);
    hak_text_add(&text, "},\n\"options\":{");
    hak_options_put(&text, true);
    put_totals(&text, s);
    put_class_members(&text, s);
    put_caches(&text);
    hak_text_add(&text, "\n]}\n");
    return hak_text_end(&text);
}
