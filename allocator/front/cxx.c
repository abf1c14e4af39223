/* C++'s operators new and delete under their mangled names (Itanium C++ ABI, x86-64 and AArch64:
 * size_t is `m`). The library links no C++ runtime: the new handler and bad_alloc are looked up in
 * the program, on the failing path alone. */
#include "base/fatal.h"
#include "front/cxx.h"
#include "include/hakmem.h"

#include <dlfcn.h>

typedef void (*new_handler)(void);
typedef void (*function)(void);

/* A fully static program has no dynamic linker, and need not get one for our sake. If it has a C++
 * runtime, the linker has put these two in here. */
#pragma weak dlsym
#pragma weak dlopen
extern new_handler linked_get_new_handler(void) __asm__("_ZSt15get_new_handlerv")
    __attribute__((weak));
extern void linked_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));

/* POSIX lets dlsym return functions as data pointers. */
static function find(void *where, const char *name) {
    return dlsym != NULL ? (function)dlsym(where, name) : NULL;
}

/* A function of the C++ runtime, also where that was loaded privately (RTLD_LOCAL), as with an
 * interpreter's extensions. */
static function find_in_runtime(const char *name) {
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
    function found = find(RTLD_DEFAULT, name);
    if (dlopen == NULL)
        return found;
    for (size_t i = 0; found == NULL && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        void *runtime = dlopen(runtimes[i], RTLD_NOLOAD | RTLD_LAZY);
        if (runtime != NULL)
            found = find(runtime, name);
    }
    return found;
}

static new_handler current_handler(void) {
    if (linked_get_new_handler != NULL)
        return linked_get_new_handler();
    new_handler (*get)(void) = (new_handler (*)(void))find_in_runtime("_ZSt15get_new_handlerv");
    return get != NULL ? get() : NULL;
}

static _Noreturn HAK_COLD void throw_bad_alloc(void) {
    if (linked_throw_bad_alloc != NULL)
        linked_throw_bad_alloc();
    function thrower = find_in_runtime("_ZSt17__throw_bad_allocv");
    if (thrower != NULL)
        thrower();
    hak_fatal("out of memory", "operator new", NULL, "and no C++ runtime to throw bad_alloc");
}

static void *allocate_for_new(size_t size, size_t alignment) {
    if (alignment <= 16)
        return hak_malloc(size);
    return hak_memalign(alignment, size);
}

static HAK_COLD void *try_harder(size_t size, size_t alignment) {
    for (;;) {
        new_handler handler = current_handler();
        if (handler == NULL)
            throw_bad_alloc();
        handler(); /* frees something, throws or ends the program */
        void *block = allocate_for_new(size, alignment);
        if (block != NULL)
            return block;
    }
}

void *hak_cxx_new(size_t size, size_t alignment) {
    void *block = allocate_for_new(size, alignment);
    if (HAK_LIKELY(block != NULL))
        return block;
    return try_harder(size, alignment);
}

/* The runtime's nothrow forms call a throwing form, and catch, which C cannot. */
static void *call_nothrow(function runtime, size_t size, size_t alignment, const void *tag) {
    typedef void *(*plain_form)(size_t, const void *);
    typedef void *(*aligned_form)(size_t, size_t, const void *);
    return alignment != 0 ? ((aligned_form)runtime)(size, alignment, tag)
                          : ((plain_form)runtime)(size, tag);
}

/* A handler may throw. Without one there is nothing to try. */
static HAK_COLD void *try_without_throwing(size_t size, size_t alignment, const void *tag) {
    if (current_handler() == NULL)
        return NULL;
    function runtime = find(RTLD_NEXT, alignment != 0 ? "_ZnwmSt11align_val_tRKSt9nothrow_t"
                                                      : "_ZnwmRKSt9nothrow_t");
    return runtime != NULL ? call_nothrow(runtime, size, alignment, tag) : NULL;
}

void *hak_cxx_new_or_null(size_t size, size_t alignment, const void *tag) {
    void *block = allocate_for_new(size, alignment);
    if (HAK_LIKELY(block != NULL))
        return block;
    return try_without_throwing(size, alignment, tag);
}

/* ---- the forms that others stand on ---- */

/* A program may replace some forms alone. The rest then stands on these, as C++'s standard has it
 * ([new.delete]): a block of the program's operator new must not come to our operator delete, nor
 * one of ours to the program's. In the standard those of arrays stand on those of single objects,
 * too; here they are a family of their own, as sound and without a detour. */

/* new_plain is the one that counts, the program's if it has one, and own_new_plain is ours. */
#define BASE(own, id, mangled, parameters, alignment, family)                                      \
    static void *own parameters {                                                                  \
        return hak_cxx_named(hak_cxx_new(size, alignment), family);                                \
    }                                                                                              \
    HAK_CXX_NAME(void *, id, mangled, parameters) HAK_ALIAS_OF(own);
#define ALIGNED (size_t size, size_t alignment)

BASE(own_new_plain, new_plain, "_Znwm", (size_t size), 0, HAK_FROM_NEW)
BASE(own_new_array_plain, new_array_plain, "_Znam", (size_t size), 0, HAK_FROM_NEW_ARRAY)
BASE(own_new_aligned, new_aligned, "_ZnwmSt11align_val_t", ALIGNED, alignment, HAK_FROM_NEW)
BASE(own_new_array_aligned, new_array_aligned, "_ZnamSt11align_val_t", ALIGNED, alignment,
     HAK_FROM_NEW_ARRAY)

static inline void release(void *block, size_t size, size_t alignment, enum hak_family family) {
    hak_free_as(block, &(hak_free_call){"operator delete", size, alignment, family});
}

/* Not aliases of hak_free: where the program replaces one, BOLT would take it for another name with
 * the same address. */
HAK_CXX_OPERATOR(void, delete_plain, "_ZdlPv", (void *block),
                 release(block, SIZE_MAX, 1, HAK_FROM_NEW))
HAK_CXX_OPERATOR(void, delete_array_plain, "_ZdaPv", (void *block),
                 release(block, SIZE_MAX, 1, HAK_FROM_NEW_ARRAY))
HAK_CXX_OPERATOR(void, delete_aligned, "_ZdlPvSt11align_val_t", (void *block, size_t alignment),
                 release(block, SIZE_MAX, alignment, HAK_FROM_NEW))
HAK_CXX_OPERATOR(void, delete_array_aligned, "_ZdaPvSt11align_val_t",
                 (void *block, size_t alignment),
                 release(block, SIZE_MAX, alignment, HAK_FROM_NEW_ARRAY))

/* ---- those that stand on them, each twice: for one object, and for an array ---- */

/* Where the program has a throwing form of its own. A fully static one has no runtime to find, and
 * gets what that form does. */
static HAK_DOOR void *nothrow_on(function other, const char *name, size_t size, size_t alignment,
                                 const void *tag) {
    function runtime = find(RTLD_NEXT, name);
    if (runtime != NULL)
        return call_nothrow(runtime, size, alignment, tag);
    return alignment != 0 ? ((void *(*)(size_t, size_t))other)(size, alignment)
                          : ((void *(*)(size_t))other)(size);
}

#define ONE_NOTHROW(on, mangled, parameters, alignment, family)                                    \
    HAK_CXX_OPERATOR(void *, on##_nothrow, mangled, parameters,                                    \
                     return HAK_LIKELY(on == own_##on)                                             \
                                ? hak_cxx_named(hak_cxx_new_or_null(size, alignment, tag), family) \
                                : nothrow_on((function)on, mangled, size, alignment, tag))
#define NOTHROW(form, ending, parameters, alignment)                                               \
    ONE_NOTHROW(new_##form, "_Znwm" ending, parameters, alignment, HAK_FROM_NEW)                   \
    ONE_NOTHROW(new_array_##form, "_Znam" ending, parameters, alignment, HAK_FROM_NEW_ARRAY)

NOTHROW(plain, "RKSt9nothrow_t", (size_t size, const void *tag), 0)
NOTHROW(aligned, "St11align_val_tRKSt9nothrow_t", (size_t size, size_t alignment, const void *tag),
        alignment)

/* Whoever replaces a form of delete replaces that of new. The guard looks at what this form says.
 * The pointer comes from the GOT: BOLT would bind a call through the PLT to our own form. */
#define ONE_DELETE(on, form, mangled, parameters, arguments, size, alignment, family)              \
    HAK_CXX_OPERATOR(                                                                              \
        void, delete_##on##_##form, mangled, parameters,                                           \
        if (HAK_GUARD && new_##on == own_new_##on) release(block, size, alignment, family);        \
        else {                                                                                     \
            __typeof__(delete_##on) *chosen = delete_##on;                                         \
            HAK_FORGET_VALUE(chosen);                                                              \
            chosen arguments;                                                                      \
        })
#define DELETE(on, form, ending, parameters, arguments, size, alignment)                           \
    ONE_DELETE(on, form, "_ZdlPv" ending, parameters, arguments, size, alignment, HAK_FROM_NEW)    \
    ONE_DELETE(array_##on, form, "_ZdaPv" ending, parameters, arguments, size, alignment,          \
               HAK_FROM_NEW_ARRAY)

DELETE(plain, nothrow, "RKSt9nothrow_t", (void *block), (block), SIZE_MAX, 1)
DELETE(plain, sized, "m", (void *block, size_t size), (block), size, 1)
DELETE(aligned, nothrow, "St11align_val_tRKSt9nothrow_t", (void *block, size_t alignment),
       (block, alignment), SIZE_MAX, alignment)
DELETE(aligned, sized, "mSt11align_val_t", (void *block, size_t size, size_t alignment),
       (block, alignment), size, alignment)
