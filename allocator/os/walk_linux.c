#include "os/walk.h"

#include "os/secret.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined __GLIBC__ && defined __x86_64__
#include <unwind.h>

static struct unwinder {
    _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn visit, void *context);
    _Unwind_Word (*stack_pointer)(struct _Unwind_Context *frame);
    _Unwind_Word (*at)(struct _Unwind_Context *frame, int *is_interrupted);
    _Unwind_Word (*saved)(struct _Unwind_Context *frame, int number);
} unwinder;

/* ---- sizes of frames ---- */

/* A size and its key in one word: so threads read and write them without a lock. What is longer is
 * rare, and a longer step could leave the stack if other code came to lie there. */
enum { SETS = 512, IN_SET = 8, LONGEST_FRAME = 32768, SIZE_BITS = 16, RBP = 6 };
enum { ENDS = 0, UNKNOWN = (1 << SIZE_BITS) - 1 }; /* in place of a size; or it varies */
static _Alignas(64) _Atomic uint64_t sizes[SETS][IN_SET];

static uint64_t load(const _Atomic uint64_t *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* The word that has the key, or a free one; NULL: all have others. */
static _Atomic uint64_t *find(uint64_t key) {
    _Atomic uint64_t *set = sizes[hak_mixed(key) % SETS];
    for (unsigned i = 0; i < IN_SET; i++)
        if (load(&set[i]) >> SIZE_BITS == key || load(&set[i]) == 0)
            return &set[i];
    return NULL;
}

static uint64_t known(uint64_t key) {
    const _Atomic uint64_t *found = find(key);
    uint64_t word = found != NULL ? load(found) : 0;
    return word >> SIZE_BITS == key && word != 0 ? word & UNKNOWN : UNKNOWN;
}

static void keep(uint64_t key, uint64_t size) {
    _Atomic uint64_t *word = find(key);
    if (word == NULL)
        word = &sizes[hak_mixed(key) % SETS][(key ^ size) / 8 % IN_SET];
    else if (load(word) >> SIZE_BITS == key && (load(word) & UNKNOWN) != size)
        size = UNKNOWN;
    if (key != 0 && key >> (64 - SIZE_BITS) == 0)
        atomic_store_explicit(word, key << SIZE_BITS | size, memory_order_relaxed);
}

/* The key of two numbers that belong together. */
static uint64_t both(uint64_t first, uint64_t second) {
    return hak_mixed(first ^ hak_mixed(second)) >> SIZE_BITS;
}

HAK_READS_ANYWHERE static uintptr_t return_address(uintptr_t sp) {
    return *(const uintptr_t *)(sp - sizeof sp);
}

/* A frame that had one size always, where it was walked in this very place, if it goes on where it
 * did then. What was never walked here may end before that. */
static uint64_t size_in_place(uintptr_t at, uintptr_t sp) {
    uint64_t usual = known(both(at, 0)), place = both(at, sp), here = known(place);
    bool same = usual <= LONGEST_FRAME && usual == here &&
                known(both(place, return_address(sp + here))) == here;
    return same ? here : UNKNOWN;
}

/* ---- walks ---- */

typedef struct frame {
    uintptr_t at, sp, bp;
    int is_interrupted; /* by a signal: `at` is no return address, and may be anywhere */
} frame;

typedef struct walk {
    void **frames;
    unsigned most, found, unknown; /* the first that may be followed */
    uintptr_t start;
    frame last;
} walk;

/* Adds frames from one on. False: the size of the last one added is not known. */
static bool follow(walk *of, uintptr_t at, uintptr_t sp) {
    while (of->found < of->most) {
        of->frames[of->found++] = (void *)at;
        uint64_t size = known(at);
        if (size == UNKNOWN)
            size = size_in_place(at, sp);
        if (size == UNKNOWN || size == ENDS)
            return size == ENDS;
        sp += size;
        at = return_address(sp);
    }
    return true;
}

static void keep_in_place(const frame *from, uintptr_t next, size_t size) {
    uint64_t place = both(from->at, from->sp);
    keep(both(from->at, 0), size);
    keep(place, size);
    keep(both(place, next), size);
}

/* The frame pointer of a frame that has one lies within the frame. */
static void learn(const frame *from, const frame *to) {
    size_t size = to->sp - from->sp;
    if (from->is_interrupted || to->is_interrupted)
        return;
    if (to->at == 0)
        keep(from->at, ENDS);
    else if (size - 1 >= LONGEST_FRAME || return_address(to->sp) != to->at)
        return;
    else if (from->bp - from->sp < size)
        keep_in_place(from, to->at, size);
    else
        keep(from->at, size);
}

/* True: the walk is at its end. */
static bool add(walk *of, const frame *now) {
    unsigned before = of->found;
    if (before >= of->unknown && follow(of, now->at, now->sp))
        return true;
    if (before >= of->unknown)
        of->unknown = of->found;
    of->found = before;
    of->frames[of->found++] = (void *)now->at;
    return of->found == of->most;
}

/* Behind the outermost frame there is one at 0. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
    walk *of = argument;
    frame now = {.sp = unwinder.stack_pointer(context), .bp = unwinder.saved(context, RBP)};
    now.at = unwinder.at(context, &now.is_interrupted);
    if (of->found == 0 && now.sp != of->start)
        return _URC_NO_REASON;
    if (of->found != 0)
        learn(&of->last, &now);
    of->last = now;
    return now.at == 0 || add(of, &now) ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

unsigned hak_os_walk(void **frames, unsigned most, const void *at, const void *sp) {
    walk of = {.frames = frames, .most = most, .start = (uintptr_t)sp};
    if (unwinder.walk == NULL || follow(&of, (uintptr_t)at, (uintptr_t)sp))
        return of.found;
    of.unknown = of.found;
    of.found = 0;
    if (unwinder.walk(visit, &of) == _URC_END_OF_STACK && of.last.at != 0)
        keep(of.last.at, ENDS);
    return of.found;
}

/* libc's backtrace has loaded it. */
static void look_up(void *library, void *(*find_name)(void *handle, const char *name)) {
    static const char *const names[] = {"_Unwind_GetCFA", "_Unwind_GetIPInfo", "_Unwind_GetGR",
                                        "_Unwind_Backtrace"};
    void *found[4];
    for (unsigned i = 0; i < 4; i++)
        if ((found[i] = find_name(library, names[i])) == NULL)
            return;
    unwinder.stack_pointer = (_Unwind_Word (*)(struct _Unwind_Context *))found[0];
    unwinder.at = (_Unwind_Word (*)(struct _Unwind_Context *, int *))found[1];
    unwinder.saved = (_Unwind_Word (*)(struct _Unwind_Context *, int))found[2];
    unwinder.walk = (_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void *))found[3];
}

void hak_os_walk_start(void *(*find_name)(void *handle, const char *name)) {
    void *(*open)(const char *, int) = (void *(*)(const char *, int))find_name(NULL, "dlopen");
    void *library = open != NULL ? open("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library != NULL)
        look_up(library, find_name);
}
#else
void hak_os_walk_start(void *(*find_name)(void *handle, const char *name)) {
    (void)find_name;
}

unsigned hak_os_walk(void **frames, unsigned most, const void *at, const void *sp) {
    (void)frames, (void)most, (void)at, (void)sp;
    return 0;
}
#endif
