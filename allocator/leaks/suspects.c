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

/* It needs no memory, which libc's qsort asks malloc for, and is quick where they mostly come in
 * order, as here. Source: Shell's sort with the gaps of Knuth, The Art of Computer Programming 3,
 * section 5.2.1. */
void hak_suspects_sort(void) {
    hak_suspect *all = hak_suspected.all;
    size_t count = hak_suspected.count, gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            hak_suspect moved = all[i];
            size_t at = i;
            for (; at >= gap && all[at - gap].start > moved.start; at -= gap)
                all[at] = all[at - gap];
            all[at] = moved;
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
