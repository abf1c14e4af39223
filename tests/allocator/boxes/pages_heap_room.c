/* Where heaps lie: apart from users' blocks and from each other, so that who writes on behind a
 * block, or in front of it, faults before the first byte of one. And their places are used again.
 */
#include "pages/heap_room.h"

#include <stdio.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "cold/thread.h"
#include "include/hakmem.h"

enum { THREADS = 20, MANY = 40 };

/* The memory around an address, up to the next byte on each side that faults. */
typedef struct {
    uintptr_t first, end;
} Island;

static Island island_of(const void *address) {
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t from, to;
    char access[5];
    Island island = {0, 0};
    while (fscanf(maps, "%lx-%lx %4s%*[^\n]", &from, &to, access) == 3) {
        if (access[0] != 'r')
            continue;
        if (from != island.end && island.end > (uintptr_t)address)
            break;
        island.first = from == island.end ? island.first : from;
        island.end = to;
    }
    fclose(maps);
    CHECK(island.first <= (uintptr_t)address && (uintptr_t)address < island.end);
    return island;
}

static bool is_on(Island island, const void *address) {
    return island.first <= (uintptr_t)address && (uintptr_t)address < island.end;
}

typedef struct {
    const hak_heap *heap;
    void *small, *medium, *large;
} Owner;

static Owner owners[THREADS];
static pthread_barrier_t all_there;

static void *own(void *place) {
    Owner *owner = place;
    owner->small = hak_malloc(100);
    owner->medium = hak_malloc(10000);
    owner->large = hak_malloc(128 << 10);
    owner->heap = hak_this_thread.owned;
    CHECK(owner->small && owner->medium && owner->large && owner->heap);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static void lies_apart(const Owner *owner) {
    const char *heap = (const char *)owner->heap;
    Island island = island_of(heap);
    CHECK_THAT(is_on(island, heap + HAK_USUAL_HEAP_SIZE - 1), "a wall within a heap");
    CHECK(hak_heap_room_holds(heap) && hak_heap_room_holds((const char *)island.end));
    for (const Owner *other = owners; other < owners + THREADS; other++) {
        CHECK(!is_on(island, other->small) && !is_on(island, other->medium));
        CHECK(!is_on(island, other->large) && !hak_heap_room_holds(other->small));
        CHECK(other == owner || !is_on(island, other->heap));
    }
}

static void heaps_lie_apart(void) {
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&all_there, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(own, &owners[i]);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        lies_apart(&owners[i]);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
}

static hak_seat *seats[MANY];

static void open_all(void) {
    for (int i = 0; i < MANY; i++) {
        CHECK(hak_heap_room_open(seats[i]));
        hak_heap *heap = seats[i]->heap;
        CHECK(!heap->seat && !heap->top[1]);
        heap->seat = seats[i];
        CHECK(hak_heap_room_deepen(heap) && hak_heap_room_deepen(heap));
        memset((char *)heap, 1, HAK_HEAP_SIZE);
    }
}

static void places_are_used_again(void) {
    for (int i = 0; i < MANY; i++)
        CHECK((seats[i] = hak_heap_room_add()) != NULL);
    size_t before = rss_kib(), address_space = 0;
    for (int round = 0; round < 3; round++) {
        open_all();
        CHECK_THAT(rss_kib() > before + MANY * (HAK_HEAP_SIZE >> 10) / 2, "%zu KiB", rss_kib());
        if (round == 0)
            address_space = status_kib("VmSize:");
        CHECK_THAT(status_kib("VmSize:") <= address_space, "further room in round %d", round);
        for (int i = 0; i < MANY; i++)
            hak_heap_room_close(seats[i]);
        CHECK_THAT(rss_kib() < before + 200, "RSS %zu -> %zu KiB", before, rss_kib());
    }
}

int main(void) {
    heaps_lie_apart();
    places_are_used_again();
    return 0;
}
