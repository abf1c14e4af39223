#include "pages/note.h"

enum {
    MOST_NOTES = 32
}; /* with more threads in the middle of it, the child loses what some were at */

/* An address and, below its last bits, a number of pages: so a note is written at once. 0: none. */
static _Atomic uintptr_t notes[MOST_NOTES];

size_t hak_note_pages(const hak_range *r, size_t first, size_t count) {
    uintptr_t note = r->base + (first << HAK_PAGE_SHIFT) + count, none = 0;
    size_t at = 0;
    while (at < MOST_NOTES && !atomic_compare_exchange_strong(&notes[at], &none, note)) {
        none = 0;
        at++;
    }
    return at;
}

void hak_note_forget(size_t note) {
    if (note < MOST_NOTES)
        atomic_store(&notes[note], 0);
}

uintptr_t hak_note_take(void) {
    for (size_t i = 0; i < MOST_NOTES; i++) {
        uintptr_t note = atomic_exchange(&notes[i], 0);
        if (note != 0)
            return note;
    }
    return 0;
}
