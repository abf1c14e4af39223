/* One call, with what must be true before and after it. */
#include "programs.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocks.h"
#include "hakmem.h"
#include "../allocator/support/check.h"

enum {
    KEPT = 1234, /* what errno was before a call that must keep it */
    TRAVELS = 3, /* a magazine of one ended thread holds blocks of another, whose turn was before */
};

/* ---- what a call that allocates returned ---- */

static bool is_power_of_two(size_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

/* Refused calls of the system excuse an allocation that fails. Threads that run freely see each
 * other's. */
static void check_refusal(size_t size, size_t alignment, unsigned refusals_before) {
    bool excused = size >= TOO_LARGE || alignment >= TOO_LARGE ||
                   refusals_before != system_refusals() || programs_run_freely;
    CHECK_THAT(excused, "%zu bytes, aligned to %zu, were refused", size, alignment);
}

typedef struct wish {
    size_t size, alignment;
    unsigned refusals;
} wish;

static wish begin(size_t size, size_t alignment) {
    errno = KEPT;
    return (wish){size, alignment, system_refusals()};
}

/* `error`: what it said, errno for most. */
static bool came(const wish *w, const void *start, int error) {
    if (start != NULL) {
        CHECK_THAT(error == KEPT || error == 0, "it succeeded, and errno is %d", error);
        return true;
    }
    CHECK_THAT(error == ENOMEM, "it failed with %d", error);
    check_refusal(w->size, w->alignment, w->refusals);
    return false;
}

static void keep(block *b, const wish *w, void *start) {
    if (came(w, start, errno))
        block_begins(b, start, w->size, w->alignment);
}

/* ---- allocating ---- */

static void do_malloc(block *b, size_t size) {
    wish w = begin(size, 0);
    keep(b, &w, hak_malloc(size));
}

static void do_calloc(block *b, size_t size, unsigned extra) {
    size_t count = extra % 16 + 1, each = size / count;
    wish w = begin(count * each, 0);
    char *start = hak_calloc(count, each);
    if (start != NULL)
        CHECK_THAT(is_zero(start, w.size), "calloc(%zu, %zu) is not zero", count, each);
    keep(b, &w, start);
}

static void do_posix_memalign(block *b, size_t size, size_t alignment) {
    void *start = b;
    wish w = begin(size, alignment);
    int error = hak_posix_memalign(&start, alignment, size);
    CHECK(errno == KEPT);
    if (!is_power_of_two(alignment) || alignment < sizeof(void *)) {
        CHECK(error == EINVAL && start == b);
        return;
    }
    CHECK(error == 0 || start == b);
    if (came(&w, error == 0 ? start : NULL, error))
        block_begins(b, start, size, alignment);
}

static void do_aligned_alloc(block *b, size_t size, size_t alignment) {
    wish w = begin(size, alignment);
    void *start = hak_aligned_alloc(alignment, size);
    if (is_power_of_two(alignment))
        keep(b, &w, start);
    else
        CHECK(start == NULL && errno == EINVAL);
}

static void do_memalign(block *b, size_t size, size_t alignment) {
    size_t rounded = 1;
    while (rounded < alignment)
        rounded *= 2;
    wish w = begin(size, rounded);
    keep(b, &w, hak_memalign(alignment, size));
}

static void do_valloc(block *b, size_t size, bool whole_pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    wish w = begin(size, page);
    void *start = whole_pages ? hak_pvalloc(size) : hak_valloc(size);
    if (whole_pages && start != NULL)
        w.size = size == 0 ? page : (size + page - 1) / page * page;
    keep(b, &w, start);
}

/* ---- resizing and freeing ---- */

static void *resize(block *b, size_t size, unsigned extra, bool is_array) {
    if (!is_array)
        return hak_realloc(b->start, size);
    size_t count = extra % 2 == 0 ? 1 : SIZE_MAX / 2;
    return hak_reallocarray(b->start, count, count == 1 ? size : 3);
}

static void do_realloc(block *b, const call *c, size_t size, bool is_array) {
    bool overflows = is_array && c->extra % 2 != 0, frees = b->start != NULL && size == 0;
    wish w = begin(overflows ? SIZE_MAX : size, 0);
    block_check(b);
    void *start = resize(b, size, c->extra, is_array);
    if (frees && !overflows) {
        CHECK(start == NULL && errno == KEPT);
        block_ends(b);
    } else if (came(&w, start, errno)) {
        if (b->start != NULL)
            block_check_copy(b, start, size);
        block_ends(b);
        block_begins(b, start, size, 0);
    } else {
        block_check(b); /* it is still there */
    }
}

static void do_free(block *b, enum function how) {
    block_check(b);
    errno = KEPT;
    if (how == DO_free_sized && b->alignment == 0)
        hak_free_sized(b->start, b->size);
    else if (how == DO_free_aligned_sized && b->alignment != 0)
        hak_free_aligned_sized(b->start, b->alignment, b->size);
    else
        hak_free(b->start);
    CHECK_THAT(errno == KEPT, "free changed errno to %d", errno);
    block_ends(b);
}

/* ---- what concerns no slot ---- */

static void look(void) {
    hak_usage usage;
    hak_get_usage(&usage);
    struct mallinfo2 info = hak_mallinfo2();
    struct mallinfo old = hak_mallinfo();
    CHECK(usage.used >= usage.large && usage.free <= usage.committed);
    CHECK(hak_mallopt(M_MMAP_THRESHOLD, 1) == 0);
    if (!programs_run_freely && info.uordblks < INT32_MAX)
        CHECK(old.uordblks == (int)info.uordblks);
}

static void check_all(void) {
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        block *b = block_take(slot);
        block_check(b);
        block_release(b);
    }
}

/* What was in another thread's hands when the child was made is left alone there. */
static void live_as_child(void) {
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        block *b = &blocks[slot];
        if (!block_is_taken(b) && b->start != NULL) {
            block_check(b);
            if (slot % 3 != 0)
                do_free(b, DO_free);
            else
                do_malloc(b, b->size);
        }
    }
    hak_purge();
    CHECK(hak_validate() == 1);
    _exit(0);
}

static void fork_here(void) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        live_as_child();
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(status == 0, "the child ended with status %#x", status);
}

static bool perform_alone(const call *c) {
    switch (c->function) {
    case DO_trim:
        hak_malloc_trim(c->size);
        return true;
    case DO_purge:
        hak_purge();
        return true;
    case DO_look:
        look();
        return true;
    case DO_validate:
        CHECK(hak_validate() == 1);
        return true;
    case DO_check_all:
        check_all();
        return true;
    case DO_wait:
        system_wait((unsigned)(c->size % 4000));
        return true;
    case DO_refuse:
        system_refuse(c->slot % 8, c->extra % 32);
        return true;
    case DO_fork:
        fork_here();
        return true;
    default:
        return false;
    }
}

/* ---- a call ---- */

static void perform_at(const call *c, block *b, size_t size) {
    switch (c->function) {
    case DO_free:
    case DO_free_sized:
    case DO_free_aligned_sized:
        do_free(b, c->function);
        return;
    case DO_realloc:
    case DO_reallocarray:
        do_realloc(b, c, size, c->function == DO_reallocarray);
        return;
    case DO_usable_size:
        block_check(b);
        return;
    case DO_churn:
        size = b->start != NULL ? b->size : size;
        break;
    default:
        break;
    }
    do_free(b, DO_free);
    switch (c->function) {
    case DO_calloc:
        do_calloc(b, size, c->extra);
        break;
    case DO_posix_memalign:
        do_posix_memalign(b, size, c->alignment);
        break;
    case DO_aligned_alloc:
        do_aligned_alloc(b, size, c->alignment);
        break;
    case DO_memalign:
        do_memalign(b, size, c->alignment);
        break;
    case DO_valloc:
    case DO_pvalloc:
        do_valloc(b, size, c->function == DO_pvalloc);
        break;
    default:
        do_malloc(b, size);
    }
}

void perform(const call *c) {
    if (perform_alone(c))
        return;
    for (unsigned i = 0; i < c->times; i++) {
        block *b = block_take(c->slot + i);
        perform_at(c, b, block_fits(c->size) ? c->size : c->size % 4096);
        block_release(b);
    }
}

void perform_late(const call *c) {
    call allocates = *c, frees = *c;
    allocates.function = DO_malloc;
    frees.function = DO_free;
    frees.slot += c->times / 2;
    perform(&allocates);
    perform(&frees);
}

void finish(void) {
    hak_usage usage;
    system_refuse(0, 0);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        if (blocks[slot].start != NULL)
            do_free(block_take(slot), DO_free), block_release(&blocks[slot]);
    for (int i = 0; i < TRAVELS; i++)
        hak_purge();
    CHECK(hak_validate() == 1);
    hak_get_usage(&usage);
    CHECK_THAT(usage.blocks == 0, "%zu blocks are left", usage.blocks);
}
