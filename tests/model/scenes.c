#include "scenes.h"

#include "front/doors.h"
#include "hot/magazine.h"

enum { SIZE = 64, NEVER_MS = 3600000 };

hak_policy scene_policy;
uint64_t scene_now_ms = 1000;

const hak_policy *__real_hak_policy_now(void);
const hak_policy *__wrap_hak_policy_now(void);
const hak_policy *__wrap_hak_policy_now(void) {
    if (scene_policy.reserve_mib == 0) {
        scene_policy = *__real_hak_policy_now();
        scene_policy.purge_delay_ms = NEVER_MS;
    }
    return &scene_policy;
}

uint64_t __wrap_hak_os_now_ms(void);
uint64_t __wrap_hak_os_now_ms(void) {
    return scene_now_ms;
}

unsigned scene_class(void) {
    unsigned cls = 1;
    while (hak_classes[cls].size < SIZE)
        cls++;
    return cls;
}

hak_heap *scene_heap(void **blocks, size_t count) {
    hak_heap *heap = hak_heap_obtain();
    hak_slab_take(heap, hak_slab_make(heap, scene_class()), blocks, count);
    return heap;
}

void scene_use(void *block) {
    ((long *)block)[1]++;
}

size_t scene_empty(hak_heap *heap, void **out) {
    size_t count = 0;
    for (void *block; (block = hak_magazine_pop(heap, scene_class(), HAK_IS_COUNTED)) != NULL;
         count++) {
        scene_use(block);
        out[count] = block;
    }
    return count;
}

bool scene_same(void *const *blocks, void *const *found, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned times = 0;
        for (size_t j = 0; j < count; j++)
            times += found[j] == blocks[i];
        if (times != 1)
            return false;
    }
    return true;
}
