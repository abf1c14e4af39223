/* C++'s operators new and delete under their mangled names (Itanium C++ ABI, x86-64 and AArch64:
 * size_t is `m`). The library links no C++ runtime: the new handler and bad_alloc are looked up in
 * the program, on the failing path alone. */
#include "base/attributes.h"
#include "base/fatal.h"
#include "front/cxx.h"
#include "guard/guard.h"
#include "include/hakmem.h"

#include <dlfcn.h>

/* What the gate refers to, so that a static link takes this file too. */
void hak_cxx_operators(void);
void hak_cxx_operators(void) {}

typedef void (*new_handler)(void);

typedef void (*function)(void);

/* A program that is linked statically as a whole has no dynamic linker, and need not get one for
 * our sake: what it has of the C++ runtime the linker has put in here. */
#pragma weak dlsym
#pragma weak dlopen
extern new_handler linked_get_new_handler(void) __asm__("_ZSt15get_new_handlerv")
    __attribute__((weak));
extern void linked_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));

/* POSIX lets dlsym return functions as data pointers. */
static function find(void *where, const char *name) {
    if (dlsym == NULL)
        return NULL;
    union {
        void *data;
        function call;
    } found = {dlsym(where, name)};
    return found.call;
}

/* A function of the C++ runtime, also where the program that uses it was loaded privately, as
 * interpreters load their extensions. */
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

/* A handler may throw, which C cannot catch: the runtime's own nothrow form calls the throwing
 * form above and catches. Without a handler there is nothing to try. */
static HAK_COLD void *try_without_throwing(size_t size, size_t alignment, const void *tag) {
    typedef void *(*plain_form)(size_t, const void *);
    typedef void *(*aligned_form)(size_t, size_t, const void *);
    if (current_handler() == NULL)
        return NULL;
    function runtime = find(RTLD_NEXT, alignment != 0 ? "_ZnwmSt11align_val_tRKSt9nothrow_t"
                                                      : "_ZnwmRKSt9nothrow_t");
    if (runtime == NULL)
        return NULL;
    return alignment != 0 ? ((aligned_form)runtime)(size, alignment, tag)
                          : ((plain_form)runtime)(size, tag);
}

void *hak_cxx_new_or_null(size_t size, size_t alignment, const void *tag) {
    void *block = allocate_for_new(size, alignment);
    if (HAK_LIKELY(block != NULL))
        return block;
    return try_without_throwing(size, alignment, tag);
}

/* ---- the operators ---- */

/* In production size, alignment and tag say nothing that the page does not know: every form is
 * free. */
HAK_INLINE void release(void *block, size_t size, size_t alignment, enum hak_family family) {
    if (HAK_GUARD)
        hak_guard_free(block, &(hak_free_call){"operator delete", size, alignment, family});
    else
        hak_free(block);
}

/* Each twice: for one object, and for an array. */
#define OPERATOR_NEW(form, ending, parameters, block)                                              \
    HAK_CXX_OPERATOR(void *, new_##form, "_Znw" ending, parameters,                                \
                     return hak_cxx_named(block, HAK_FROM_NEW))                                    \
    HAK_CXX_OPERATOR(void *, new_array_##form, "_Zna" ending, parameters,                          \
                     return hak_cxx_named(block, HAK_FROM_NEW_ARRAY))
#define OPERATOR_DELETE(form, ending, parameters, size, alignment)                                 \
    HAK_CXX_OPERATOR(void, delete_##form, "_Zdl" ending, parameters,                               \
                     release(block, size, alignment, HAK_FROM_NEW))                                \
    HAK_CXX_OPERATOR(void, delete_array_##form, "_Zda" ending, parameters,                         \
                     release(block, size, alignment, HAK_FROM_NEW_ARRAY))

OPERATOR_NEW(plain, "m", (size_t size), hak_cxx_new(size, 0))
OPERATOR_NEW(nothrow, "mRKSt9nothrow_t", (size_t size, const void *tag),
             hak_cxx_new_or_null(size, 0, tag))
OPERATOR_NEW(aligned, "mSt11align_val_t", (size_t size, size_t alignment),
             hak_cxx_new(size, alignment))
OPERATOR_NEW(aligned_nothrow, "mSt11align_val_tRKSt9nothrow_t",
             (size_t size, size_t alignment, const void *tag),
             hak_cxx_new_or_null(size, alignment, tag))

OPERATOR_DELETE(plain, "Pv", (void *block), SIZE_MAX, 1)
OPERATOR_DELETE(nothrow, "PvRKSt9nothrow_t", (void *block), SIZE_MAX, 1)
OPERATOR_DELETE(sized, "Pvm", (void *block, size_t size), size, 1)
OPERATOR_DELETE(aligned, "PvSt11align_val_t", (void *block, size_t alignment), SIZE_MAX, alignment)
OPERATOR_DELETE(aligned_nothrow, "PvSt11align_val_tRKSt9nothrow_t", (void *block, size_t alignment),
                SIZE_MAX, alignment)
OPERATOR_DELETE(sized_aligned, "PvmSt11align_val_t", (void *block, size_t size, size_t alignment),
                size, alignment)
