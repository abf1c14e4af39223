// Blocks that operator new was told to be cold never share a page of 64 KiB, and so no slab, with
// others: whichever form asked for them, who frees them, and however often.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>

#include <pthread.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/hinted_new.h"
#include "../support/random.h"
extern "C" {
#include "../support/invariants.h"
#include "../support/threads.h"
}

namespace {

constexpr __hot_cold_t coldest{0}, llvms_cold{1}, last_cold{127}, not_cold{128}, hottest{255};
constexpr std::size_t longest_cold = 2048;
constexpr unsigned forms = 10, slots = 4000, threads = 3;
constexpr unsigned rounds = 60000 / TEST_SHARE;

void *cold_by(unsigned form, std::size_t size, std::align_val_t alignment, __hot_cold_t hint) {
    switch (form) {
    case 0:
        return operator new(size, hint);
    case 1:
        return operator new[](size, hint);
    case 2:
        return operator new(size, std::nothrow, hint);
    case 3:
        return operator new[](size, std::nothrow, hint);
    case 4:
        return operator new(size, alignment, hint);
    case 5:
        return operator new[](size, alignment, hint);
    case 6:
        return operator new(size, alignment, std::nothrow, hint);
    case 7:
        return operator new[](size, alignment, std::nothrow, hint);
    case 8:
        return __size_returning_new_hot_cold(size, hint).p;
    default:
        return __size_returning_new_aligned_hot_cold(size, alignment, hint).p;
    }
}

// ---- where they lie ----

// How many blocks of either kind lie on each page, found by hashing: there are few pages.
constexpr std::size_t pages = 1 << 16;
struct page {
    std::uintptr_t number;
    int hot, cold;
};
page table[pages];
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

page &page_of(const void *block) {
    std::uintptr_t number = reinterpret_cast<std::uintptr_t>(block) >> 16;
    std::size_t at = number * 2654435761U % pages;
    while (table[at].number != 0 && table[at].number != number)
        at = (at + 1) % pages;
    table[at].number = number;
    return table[at];
}

void note(const void *block, bool cold, int change) {
    pthread_mutex_lock(&table_lock);
    page &p = page_of(block);
    (cold ? p.cold : p.hot) += change;
    CHECK_THAT(p.hot == 0 || p.cold == 0, "page of %p: %d blocks, and %d cold ones", block, p.hot,
               p.cold);
    pthread_mutex_unlock(&table_lock);
}

// ---- one block after the other ----

struct one {
    unsigned char *block;
    std::size_t size;
    bool cold;
};

std::size_t any_size(Random *random) {
    std::size_t longest = random_below(random, 8) == 0 ? longest_cold : 200;
    return random_below(random, longest + 1);
}

std::size_t any_alignment(Random *random) {
    return std::size_t{16} << random_below(random, 8);
}

one allocate(Random *random) {
    std::size_t size = any_size(random), alignment = any_alignment(random);
    unsigned form = random_below(random, forms);
    bool cold = random_below(random, 2) == 0, is_aligned = (form >= 4 && form <= 7) || form == 9;
    constexpr __hot_cold_t hints[] = {coldest, llvms_cold, last_cold, not_cold, hottest};
    __hot_cold_t hint = hints[cold ? random_below(random, 3) : 3 + random_below(random, 2)];
    void *block = !cold && random_below(random, 2) == 0
                      ? std::malloc(size)
                      : cold_by(form, size, std::align_val_t{alignment}, hint);
    CHECK(block != nullptr && malloc_usable_size(block) >= size);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % (cold && is_aligned ? alignment : 16) == 0);
    std::memset(block, static_cast<int>(size % 251), size);
    note(block, cold, 1);
    return {static_cast<unsigned char *>(block), size, cold};
}

void is_whole(const one &held) {
    for (std::size_t i = 0; i < held.size; i++)
        CHECK(held.block[i] == held.size % 251);
}

void release(const one &held, Random *random) {
    is_whole(held);
    note(held.block, held.cold, -1);
    if (random_below(random, 2) == 0)
        operator delete(held.block);
    else if (held.size == 0 || random_below(random, 2) == 0)
        std::free(held.block);
    else
        operator delete(held.block, held.size);
}

// ---- many, by several threads, each of which frees what others allocated ----

struct slot {
    pthread_mutex_t lock;
    one held;
};
slot all[slots];

void replace(slot *at, Random *random) {
    pthread_mutex_lock(&at->lock);
    if (at->held.block != nullptr)
        release(at->held, random);
    at->held = allocate(random);
    pthread_mutex_unlock(&at->lock);
}

void *work(void *argument) {
    Random random = random_from(*static_cast<std::uint64_t *>(argument));
    for (unsigned i = 0; i < rounds; i++)
        replace(&all[random_below(&random, slots)], &random);
    return nullptr;
}

void threads_work() {
    std::uint64_t seeds[threads];
    for (unsigned i = 0; i < threads; i++)
        seeds[i] = i + 1;
    threads_run(threads, work, seeds, sizeof seeds[0]);
}

void release_all() {
    Random random = random_from(99);
    for (slot &at : all) {
        if (at.held.block != nullptr)
            release(at.held, &random);
        at.held.block = nullptr;
    }
}

// ---- what is not cold, and what is no longer ----

bool share_a_page(const void *one, const void *other) {
    return (reinterpret_cast<std::uintptr_t>(one) ^ reinterpret_cast<std::uintptr_t>(other)) >>
               16 ==
           0;
}

void longer_ones_are_like_others() {
    for (std::size_t size : {longest_cold + 1, std::size_t{5000}, std::size_t{300000}}) {
        void *hinted = operator new(size, coldest), *plain = operator new(size);
        CHECK(malloc_usable_size(hinted) == malloc_usable_size(plain));
        operator delete(hinted, size);
        operator delete(plain, size);
    }
}

// A block that realloc moves was used: nobody says that it is cold.
void realloc_keeps_what_is_in_them() {
    for (std::size_t size = 1; size <= longest_cold; size += 7) {
        auto *block = static_cast<unsigned char *>(operator new(size, llvms_cold));
        std::memset(block, 0x5a, size);
        CHECK(std::realloc(block, malloc_usable_size(block)) == block);
        std::size_t longer = 2 * malloc_usable_size(block);
        block = static_cast<unsigned char *>(std::realloc(block, longer));
        CHECK(block != nullptr && malloc_usable_size(block) >= longer);
        void *plain = std::malloc(longer);
        CHECK(longer > longest_cold || malloc_usable_size(block) >= malloc_usable_size(plain));
        for (std::size_t i = 0; i < size; i++)
            CHECK(block[i] == 0x5a);
        std::free(plain);
        std::free(block);
    }
}

// ---- out of memory ----

void **linked(void *block, void **last) {
    *static_cast<void **>(block) = last;
    return static_cast<void **>(block);
}

// A request that is refused gives back what it can, and the next one may find that.
void **take_all() {
    void **last = nullptr;
    errno = 0;
    while (void *block = operator new(1000, std::nothrow, coldest))
        last = linked(block, last);
    CHECK_THAT(errno == ENOMEM, "errno %d", errno);
    try {
        for (;;)
            last = linked(operator new(1000, coldest), last);
    } catch (const std::bad_alloc &) {
        return last;
    }
}

void out_of_memory() {
    constexpr rlim_t mib = 128;
    rlimit before, limit = {mib << 20, mib << 20};
    CHECK(getrlimit(RLIMIT_DATA, &before) == 0);
    limit.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    void **last = take_all();
    CHECK(setrlimit(RLIMIT_DATA, &before) == 0);
    std::size_t count = 0;
    for (void **next; last != nullptr; last = next, count++) {
        next = static_cast<void **>(*last);
        operator delete(last, 1000);
    }
    CHECK_THAT(count >= 50000, "only %zu blocks of 1000 bytes", count);
    operator delete(operator new(1000, coldest), 1000);
}

} // namespace

// A block stays where no shorter class would hold it, cold or not.
void shrinks_in_place() {
    void *cold = operator new(16, coldest), *plain = operator new(16);
    CHECK(realloc(plain, 5) == plain);
    CHECK(realloc(cold, 5) == cold);
    operator delete(plain);
    operator delete(cold);
}

int main() {
    hang_limit();
    for (slot &at : all)
        pthread_mutex_init(&at.lock, nullptr);
    void *plain = operator new(40), *cold = operator new(40, coldest);
    CHECK(!share_a_page(plain, cold));
    threads_work();
    invariants_hold();
    threads_work(); // other threads, on the same blocks
    release_all();
    invariants_hold();
    operator delete(plain);
    operator delete(cold, 40);
    longer_ones_are_like_others();
    realloc_keeps_what_is_in_them();
    shrinks_in_place();
    out_of_memory();
    invariants_hold();
    return 0;
}
