#include "leaks/suspects.h"

#include "base/bits.h"
#include "os/object.h"
#include "os/os.h"
#include "os/peek.h"
#include "pages/heap_room.h"
#include "pages/range.h"

/* What becomes of a suspect that is found. True: its own memory is looked at, too. */
typedef struct finder {
    bool (*found)(struct finder *by, hak_suspect *s);
    hak_suspect *origin; /* where the look began; NULL: outside of all */
    size_t held, held_bytes;
} finder;

/* ---- looking at memory ---- */

static void follow(finder *by, uintptr_t word) {
    const hak_suspects *all = &hak_suspected;
    if (word < all->all[0].start)
        return;
    hak_suspect *s = hak_suspects_find(word);
    if (s != NULL && by->found(by, s))
        hak_suspected.waiting[hak_suspected.waiting_count++] = (uint32_t)(s - all->all);
}

/* Most words are small numbers, or addresses beyond all blocks. */
static void look_at(finder *by, size_t words) {
    const hak_suspects *all = &hak_suspected;
    const hak_suspect *last = &all->all[all->count - 1];
    uintptr_t low = all->all[0].start, span = last->start + last->size - low;
    for (size_t i = 0; i < words; i++)
        if (HAK_UNLIKELY(all->buffer[i] - low <= span))
            follow(by, all->buffer[i]);
}

/* Pages that cannot be read are passed over, one by one. */
static void look_between(finder *by, uintptr_t from, uintptr_t to) {
    while (hak_suspected.count != 0 && from < to) {
        size_t wanted = to - from < HAK_LOOK_BYTES ? to - from : HAK_LOOK_BYTES;
        size_t got = hak_os_peek(hak_suspected.buffer, from, wanted);
        look_at(by, got / sizeof(uintptr_t));
        from = got == wanted ? from + got : hak_round_down(from + got, hak_os_page_size());
        from += got == wanted ? 0 : hak_os_page_size();
    }
}

static void look_at_touched(uintptr_t from, uintptr_t to, void *by) {
    look_between(by, from, to);
}

/* Of a long block the pages that were touched, and the ends that may not be whole pages. */
static void look_into(finder *by, const hak_suspect *s) {
    uintptr_t from = hak_round_up(s->start, sizeof(uintptr_t)), to = s->start + s->size;
    uintptr_t first = hak_round_up(from, hak_os_page_size());
    uintptr_t last = hak_round_down(to, hak_os_page_size());
    if (s->size < HAK_LOOK_BYTES) {
        look_between(by, from, to);
        return;
    }
    look_between(by, from, first);
    hak_os_touched_each(first, last, false, look_at_touched, by);
    look_between(by, last, to);
}

static void go_on(finder *by) {
    hak_suspects *all = &hak_suspected;
    while (all->waiting_count != 0)
        look_into(by, &all->all[all->waiting[--all->waiting_count]]);
}

/* ---- from outside: roots ---- */

static bool reach(finder *by, hak_suspect *s) {
    (void)by;
    bool is_new = s->verdict == HAK_UNREACHED;
    s->verdict = HAK_REACHED;
    return is_new;
}

static void reach_from(uintptr_t start, size_t size) {
    look_between(&(finder){.found = reach}, start, start + size);
}

typedef struct bounds {
    uintptr_t stack, own_from, own_to; /* own: variables of the library */
} bounds;

static bool is_between(uintptr_t address, uintptr_t from, uintptr_t to) {
    return address - from < to - from;
}

/* Tables, and what follows them: the pages of the range. */
static bool lies_in_range(uintptr_t page) {
    HAK_EACH_RANGE(r)
        if (is_between(page, r->tables[0].start, r->base + r->segments_most * HAK_SEGMENT_SIZE))
            return true;
    return false;
}

static bool is_no_root(const bounds *b, uintptr_t page) {
    const hak_suspects *all = &hak_suspected;
    return lies_in_range(page) || hak_heap_room_holds((const void *)page) ||
           page - (uintptr_t)all->all < all->mapped || is_between(page, b->own_from, b->own_to);
}

static void look_at_pages(uintptr_t from, uintptr_t to, void *context) {
    size_t page = hak_os_page_size();
    for (uintptr_t at = from; at < to; at += page)
        if (is_no_root(context, at)) {
            reach_from(from, at - from);
            from = at + page;
        }
    reach_from(from, to - from);
}

/* Nothing of the first thread's stack below its stack pointer is in use. Of other threads nobody
 * knows the stack pointer, nor what else was joined to the mapping of their stack. */
static void look_at_mapping(const hak_os_mapping *m, void *context) {
    const bounds *b = context;
    uintptr_t start = m->start;
    if (!m->readable || (m->shared && !m->writable))
        return;
    if (m->is_stack && is_between(b->stack, m->start, m->end)) {
        start = hak_round_up(b->stack, hak_os_page_size());
        reach_from(b->stack, start - b->stack);
    }
    hak_os_touched_each(start, m->end, !m->writable, look_at_pages, context);
}

bool hak_roots_look(uintptr_t stack) {
    bounds b = {.stack = stack};
    hak_os_own(&b.own_from, &b.own_to);
    bool done = hak_os_maps_each(look_at_mapping, &b);
    go_on(&(finder){.found = reach});
    return done;
}

/* ---- among those that are left ---- */

/* A direct one that is found from elsewhere is direct no more; what it holds was found before. */
static bool demote(finder *by, hak_suspect *s) {
    bool is_new = s->verdict == HAK_UNREACHED;
    if (is_new || (s->verdict == HAK_DIRECT && s != by->origin))
        s->verdict = HAK_INDIRECT;
    return is_new;
}

size_t hak_reach_split(void) {
    hak_suspects *all = &hak_suspected;
    size_t left = 0;
    for (hak_suspect *s = all->all; s < all->all + all->count; s++) {
        left += s->verdict != HAK_REACHED;
        if (s->verdict != HAK_UNREACHED)
            continue;
        s->verdict = HAK_DIRECT;
        finder by = {.found = demote, .origin = s};
        look_into(&by, s);
        go_on(&by);
    }
    return left;
}

static bool take(finder *by, hak_suspect *s) {
    if (s->verdict != HAK_INDIRECT)
        return false;
    s->verdict = HAK_COUNTED;
    by->held++;
    by->held_bytes += s->size;
    return true;
}

size_t hak_reach_count(hak_suspect *direct, size_t *bytes) {
    finder by = {.found = take, .origin = direct};
    look_into(&by, direct);
    go_on(&by);
    *bytes = by.held_bytes;
    return by.held;
}
