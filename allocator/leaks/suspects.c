#include "leaks/suspects.h"

#include "base/bits.h"
#include "os/os.h"

hak_suspects hak_suspected;

bool hak_suspects_open(size_t most) {
    hak_suspects *s = &hak_suspected;
    if (most >= UINT32_MAX)
        return false;
    size_t array = (most + 1) * sizeof *s->all, numbers = (most + 1) * sizeof *s->waiting;
    numbers = hak_round_up(numbers, sizeof *s->buffer);
    size_t size = hak_round_up(array + numbers + HAK_LOOK_BYTES, hak_os_page_size());
    char *mapped = hak_os_map(size, 1);
    if (mapped == NULL)
        return false;
    *s = (hak_suspects){.all = (hak_suspect *)(void *)mapped, .most = most, .mapped = size};
    s->waiting = (uint32_t *)(void *)(mapped + array);
    s->buffer = (uintptr_t *)(void *)(mapped + array + numbers);
    return true;
}

void hak_suspects_add(const void *block, size_t size, uint32_t origin) {
    hak_suspects *s = &hak_suspected;
    if (s->count < s->most)
        s->all[s->count++] = (hak_suspect){(uintptr_t)block, size, origin, HAK_UNREACHED};
}

static bool is_sorted(const hak_suspect *all, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (all[i].start < all[i - 1].start)
            return false;
    return true;
}

static void sink(hak_suspect *all, size_t at, size_t count) {
    hak_suspect moved = all[at];
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && all[below].start < all[below + 1].start)
            below++;
        if (all[below].start <= moved.start)
            break;
        all[at] = all[below];
    }
    all[at] = moved;
}

/* Heapsort: it needs no memory, which libc's qsort asks malloc for. They mostly come in order. */
void hak_suspects_sort(void) {
    hak_suspect *all = hak_suspected.all;
    size_t count = hak_suspected.count;
    if (is_sorted(all, count))
        return;
    for (size_t at = count / 2; at-- > 0;)
        sink(all, at, count);
    for (size_t end = count; end-- > 1;) {
        hak_suspect last = all[0];
        all[0] = all[end];
        all[end] = last;
        sink(all, 0, end);
    }
}

hak_suspect *hak_suspects_find(uintptr_t address) {
    hak_suspect *all = hak_suspected.all;
    size_t low = 0, high = hak_suspected.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    hak_suspect *s = &all[low - 1];
    return address - s->start < (s->size != 0 ? s->size : 1) ? s : NULL;
}
