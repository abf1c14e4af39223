#include "cold/route.h"

#include "base/classes.h"
#include "cold/arm.h"
#include "cold/large.h"
#include "cold/list.h"
#include "cold/magazine.h"
#include "cold/owner.h"
#include "cold/page.h"
#include "cold/pool.h"
#include "cold/slab.h"
#include "cold/ultra.h"
#include "pages/range.h"

/* It enters and leaves the heap by itself. */
static void *take_large(hak_heap *heap, size_t size) {
    void *block = hak_large_allocate(size, 1, false);
    hak_owner_enters(heap);
    return block;
}

void *hak_route_take(hak_heap *heap, unsigned cls, size_t size) {
    hak_disarm(heap, cls);
    switch (hak_routes[cls]) {
    case HAK_ROUTE_HOT:
        return hak_page_take(heap, cls);
    case HAK_ROUTE_ULTRA_LIST:
        return hak_list_take(heap, cls);
    case HAK_ROUTE_POOL:
        return hak_pool_take(heap, cls);
    case HAK_ROUTE_LARGE:
        return take_large(heap, size);
    default:
        return hak_ultra_take(heap, cls);
    }
}

void hak_route_give(hak_heap *heap, unsigned cls, void *block) {
    hak_disarm(heap, cls);
    switch (hak_routes[cls]) {
    case HAK_ROUTE_NONE:
        hak_large_free(block);
        break;
    case HAK_ROUTE_HOT:
        hak_page_give(heap, cls, block);
        break;
    case HAK_ROUTE_ULTRA_LIST:
        hak_list_give(heap, cls, block);
        break;
    case HAK_ROUTE_POOL:
        hak_pool_give(heap, cls, block);
        break;
    default:
        hak_ultra_give(heap, cls, block);
    }
}

void hak_route_take_home(hak_heap *heap, unsigned cls, void *block) {
    switch (hak_routes[cls]) {
    case HAK_ROUTE_ULTRA:
    case HAK_ROUTE_MID:
        hak_ultra_take_home(heap, cls, block);
        break;
    default:
        hak_slab_put(heap, hak_run_of(block), block);
    }
}

void hak_route_flush(hak_heap *heap, unsigned cls) {
    if (hak_is_hot(cls))
        hak_page_flush(heap, cls);
    else if (hak_is_list(cls))
        hak_list_flush(heap, cls);
    else
        hak_ultra_flush(heap, cls);
}

size_t hak_route_count(const hak_heap *heap, unsigned cls) {
    size_t in_magazine = hak_magazine_count(heap, cls);
    if (hak_is_hot(cls))
        return hak_page_count(heap, cls) + in_magazine;
    return hak_is_list(cls) ? hak_list_count(heap, cls) : in_magazine;
}
