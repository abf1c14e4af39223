/* Where heaps and tables lie: apart from users' blocks and from each other, so that who writes on
 * behind a block, or in front of it, faults before the first byte of one. And their places are used
 * again.
 */
#include "pages/heap_room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "thread/thread.h"
#include "include/hakmem.h"
#include "pages/range.h"

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
        CHECK(hak_heap_room_open(seats[i]) == HAK_COMMITTED);
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

static void *allocate(void *unused) {
    CHECK_THAT(hak_malloc(100), "no heap: errno %d", errno);
    return unused;
}

/* As V8 does, which maps pages anywhere in the address space. */
static void put_a_mapping_at(const char *place) {
    void *got = mmap((void *)place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_THAT(got == place, "the system maps nothing there");
}

static void place_that_is_taken_is_left_out(void) {
    const char *one = (const char *)hak_heap_room_add()->heap;
    const char *two = (const char *)hak_heap_room_add()->heap;
    put_a_mapping_at(two + (two - one));
    thread_join(thread_start(allocate, NULL));
}

/* What can be used of the address space, or of private memory alone. */
static void limit_space(rlim_t most) {
    struct rlimit l = {most, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &l) == 0);
}

static void limit_memory(rlim_t most) {
    struct rlimit l = {most, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_DATA, &l) == 0);
}

/* Where addresses may be set apart, but no memory be used. */
static void refusal_leaves_nothing_behind(void) {
    size_t before = status_kib("VmSize:");
    limit_memory(1);
    for (int i = 0; i < 3; i++)
        CHECK(hak_heap_room_add() == NULL);
    limit_memory(RLIM_INFINITY);
    CHECK_THAT(status_kib("VmSize:") == before, "%zu -> %zu KiB", before, status_kib("VmSize:"));
}

/* Where all is refused at first, and then somebody else has all of the planned addresses. */
static void refusal_overwrites_nothing(void) {
    const uintptr_t first = 0x110000000000, end = 0x170000000000; /* of all plans for heaps */
    limit_space(1);
    CHECK(hak_heap_room_add() == NULL);
    limit_space(RLIM_INFINITY);
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *got = mmap((void *)first, end - first, PROT_NONE, how, -1, 0);
    if ((uintptr_t)got != first)
        return; /* fewer addresses, or valgrind */
    const hak_seat *seat = hak_heap_room_add();
    CHECK_THAT(seat && ((uintptr_t)seat < first || (uintptr_t)seat >= end),
               "a seat at %p, where something else lies", (const void *)seat);
}

/* In children, before there is a heap. */
static void check_in_child(void (*check)(void)) {
    pid_t child = fork();
    if (child == 0) {
        check();
        _exit(0);
    }
    child_must_succeed(child);
}

/* Where a range is full from its first to its last page, too. */
static void tables_lie_apart(void) {
    const hak_range *r = &hak_ranges[0];
    for (int i = 0; i < HAK_TABLES; i++) {
        if (r->tables[i].mapped == r->tables[i].start)
            continue;
        Island island = island_of((const void *)r->tables[i].start);
        CHECK_THAT(is_on(island, (const char *)r->tables[i].mapped - 1), "a wall within table %d",
                   i);
        CHECK_THAT(!is_on(island, (const void *)r->base), "table %d adjoins the first page", i);
        for (int j = 0; j < HAK_TABLES; j++)
            CHECK_THAT(j == i || !is_on(island, (const void *)r->tables[j].start),
                       "table %d adjoins table %d", i, j);
    }
}

static void fill_first_range(void) {
    while (hak_ranges[1].base == 0)
        CHECK(hak_malloc(HAK_SEGMENT_SIZE));
}

int main(int count, char **arguments) {
    if (count == 1 && setenv("HAKMEM_RESERVE", "64", 1) == 0)
        execl("/proc/self/exe", arguments[0], "again", NULL);
    check_in_child(refusal_leaves_nothing_behind);
    check_in_child(refusal_overwrites_nothing);
    place_that_is_taken_is_left_out(); /* first: no heap is idle yet */
    heaps_lie_apart();
    tables_lie_apart();
    fill_first_range();
    tables_lie_apart();
    places_are_used_again();
    return 0;
}
