#include "front/usage.h"

#include "base/classes.h"
#include "heap/owner.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/segment.h"
#include "slab/slab.h"
#include "thread/thread.h"

void hak_usage_of(hak_usage *usage, const hak_snapshot *s) {
    size_t waiting = s->dirty_pages + s->kept_pages + s->cached_pages;
    hak_totals t = hak_totals_of(s);
    *usage = (hak_usage){.reserved = s->reserved + s->apart_bytes,
                         .committed = s->segments * HAK_SEGMENT_SIZE + s->apart_bytes,
                         .used = t.live_bytes,
                         .large = s->large_bytes - s->large_guarded_bytes + s->apart_bytes,
                         .free = (waiting << HAK_PAGE_SHIFT) + t.free_bytes,
                         .blocks = t.live_blocks};
    for (unsigned state = 0; state < HAK_HEAP_STATES; state++)
        usage->heaps += state != HAK_HEAP_BARE ? s->heaps[state] : 0;
}

static bool segment_is_valid(const hak_segment *s) {
    return hak_room_is_right(s->range, (size_t)(s - s->range->segments)) &&
           ((s->aged | s->kept) & s->used) == 0 && ((s->used | s->kept) & ~s->touched) == 0;
}

static bool segments_are_valid(void) {
    bool sound = true;
    hak_lock_take(&hak_segment_lock);
    HAK_EACH_RANGE(r)
        for (size_t i = 0; i < r->segments_fresh; i++)
            sound = sound && segment_is_valid(&r->segments[i]);
    hak_lock_give(&hak_segment_lock);
    return sound;
}

static bool list_is_valid(const hak_heap *heap, unsigned cls) {
    const hak_slab *first = heap->bins[cls].partial, *before = first != NULL ? first->prev : NULL;
    for (const hak_slab *s = first; s != NULL; before = s, s = s->next)
        if (!hak_slab_is_valid(s) || s->prev != before || s->cls != cls ||
            s->used == hak_classes[cls].capacity ||
            hak_owner_of((void *)s->start) != hak_owner_word(heap, cls))
            return false;
    return first == NULL || before == first->prev;
}

bool hak_usage_is_valid(void) {
    hak_heap *heap = hak_this_thread.owned;
    bool sound = segments_are_valid();
    if (heap == NULL || !hak_owner_enters(heap))
        return sound;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        sound = sound && list_is_valid(heap, cls);
    hak_owner_leaves(heap);
    return sound;
}
