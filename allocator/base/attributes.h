/* Compiler attributes. Every compiler-dependent spelling of the allocator lives here. */
#pragma once

#include "base/variant.h"

#ifdef __has_feature
#define HAK_HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAK_HAS_FEATURE(feature) 0
#endif

/* The two temperatures of the library. A test holds these marks against the layout lists
 * (layouts/<profile>/hot.txt, cold.txt) and against the published binary. */
#define HAK_HOT __attribute__((hot))
#define HAK_COLD __attribute__((cold, noinline))
/* Called from the hot path but not part of it: keep it out of line, let the profile place it. */
#define HAK_DOOR __attribute__((noinline))
/* Marks a function that takes blocks from a magazine as malloc does. It has to lie within 256 bytes
 * of free (docs/experiments.md). The order of the sources sees to that (allocator/CMakeLists.txt),
 * and in a published library hot.txt, if it names the function. */
#define HAK_NEAR_FREE __attribute__((hot))
#define HAK_INLINE static inline __attribute__((always_inline))

#if HAK_WRAPPED
#define HAK_EXPORT
#else
#define HAK_EXPORT __attribute__((visibility("default")))
#endif
/* For `extern` data: -fvisibility=hidden covers definitions only, and a declaration that might be
 * preempted costs a load from the GOT at each use. */
#define HAK_HIDDEN __attribute__((visibility("hidden")))
#define HAK_LIKELY(x) __builtin_expect(!!(x), 1)
#define HAK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The parameter of this number is a format as printf's, and the values follow it. */
#define HAK_FORMAT(at) __attribute__((format(printf, at, (at) + 1)))

/* The compiler may count on it. */
#define HAK_ASSUME(x) ((x) ? (void)0 : __builtin_unreachable())

/* Another name of a function of the same file. gcc wants the attributes repeated. */
#ifdef __clang__
#define HAK_ALIAS_OF(function) __attribute__((alias(#function)))
#else
#define HAK_ALIAS_OF(function) __attribute__((alias(#function), copy(function)))
#endif

/* In a replacing build HAK_LIBC_NAME(malloc) says that `malloc` is another name of hak_malloc, and
 * HAK_LIBC_NAMES(malloc) that __libc_malloc is, too; elsewhere they say nothing. */
#if HAK_REPLACE && !HAK_WRAPPED
#define HAK_LIBC_ALIAS(name, function)                                                             \
    extern __typeof__(function) name HAK_EXPORT HAK_ALIAS_OF(function);
#else
#define HAK_LIBC_ALIAS(name, function)
#endif
#define HAK_LIBC_NAME(name) HAK_LIBC_ALIAS(name, hak_##name)
#define HAK_LIBC_NAMES(name) HAK_LIBC_NAME(name) HAK_LIBC_ALIAS(__libc_##name, hak_##name)

/* HAK_CXX_NAME(void *, new_plain, "_Znwm", (size_t size)) declares a function that programs call by
 * a mangled name; where nothing is replaced, one that nobody calls. A program may have its own in
 * place of any of them, so no compiler may take ours for the one that is called: weak. */
#if HAK_REPLACE
#define HAK_CXX_NAME(type, id, mangled, parameters)                                                \
    HAK_EXPORT __attribute__((weak)) type id parameters __asm__(mangled)
#else
#define HAK_CXX_NAME(type, id, mangled, parameters)                                                \
    static type id parameters __attribute__((unused))
#endif

/* Kept although nothing refers to it. */
#define HAK_USED __attribute__((used))

/* A function that runs when the library is loaded, before those without a priority. */
#define HAK_AT_LOAD __attribute__((constructor(101)))
#define HAK_LATE_AT_LOAD __attribute__((constructor))
#define HAK_AT_UNLOAD __attribute__((destructor(101)))

/* For small variables that every process writes at its start, or at its first malloc: the dynamic
 * linker has written to the first page of .data already, so they cost no fault of their own. */
#define HAK_EARLY __attribute__((section(".data")))

/* initial-exec: one load to find the variable, and no allocation inside malloc by the dynamic
 * loader. It must stay small, because a dlopen-ed library lives in the static TLS surplus. */
#define HAK_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* Stands in front of a slow call that ends a hot function, so that the compiler emits no `jcc
 * slow_path`: BOLT loses both edge counts of a conditional tail call, and may then move the hot
 * half away. The line number makes each one different, because compilers would hoist equal ones
 * from both sides of a branch. */
#define HAK_NOT_A_CONDITIONAL_TAIL_CALL() __asm__ volatile("" : : "i"(__LINE__))

/* Accesses that race on purpose, for ThreadSanitizer.
 * GROWING: a read on the hot path beside a writer which only ever lets the value grow. A relaxed
 * atomic load is the same instruction, but compilers do not fold it into a compare, and that costs
 * one instruction in every free.
 * SHARED: the slots and the top of a magazine, which a reclaimer may look at and empty meanwhile
 * (reclaim/reclaim.c). What keeps them apart is a barrier that ThreadSanitizer does not know.
 * RACING_READS: it passes over reads in between, because what they found is checked afterwards. */
#if defined(__SANITIZE_THREAD__) || HAK_HAS_FEATURE(thread_sanitizer)
#define HAK_READ_GROWING(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define HAK_READ_SHARED(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define HAK_WRITE_SHARED(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELEASE)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define HAK_RACING_READS_BEGIN() AnnotateIgnoreReadsBegin(__FILE__, __LINE__)
#define HAK_RACING_READS_END() AnnotateIgnoreReadsEnd(__FILE__, __LINE__)
#else
#define HAK_READ_GROWING(x) (x)
#define HAK_READ_SHARED(x) (x)
#define HAK_WRITE_SHARED(x, value) ((void)((x) = (value)))
#define HAK_RACING_READS_BEGIN() ((void)0)
#define HAK_RACING_READS_END() ((void)0)
#endif

/* Keeps the compiler from computing a 32-bit value in 64 bits, which takes longer instructions. */
#define HAK_KEEP_WIDTH(x) __asm__("" : "+r"(x))

/* Hides from the compiler what the variable holds, so it takes a call by it for one of any
 * function. */
#define HAK_FORGET_VALUE(x) __asm__("" : "+r"(x))

/* Nothing after it begins before all before it has ended: for measured waits, never on a hot path.
 */
#define HAK_FINISH_EARLIER_WORK() __asm__ volatile("lfence" ::: "memory")

/* Runs the last `lines` of HAK_CODE_LINES cache lines of code that nothing else runs: each takes a
 * line of the instruction cache, and hardly any time. Never on a hot path. */
#define HAK_CODE_LINES 256
#define HAK_RUN_LINES(lines)                                                                       \
    do {                                                                                           \
        char *hak_place;                                                                           \
        __asm__ volatile("leaq 9f(%%rip), %0\n\tsubq %1, %0\n\tjmp *%0\n\t.p2align 6\n\t"          \
                         ".rept 256\n\tnop\n\t.p2align 6\n\t.endr\n9:"                             \
                         : "=&r"(hak_place)                                                        \
                         : "r"((unsigned long)(lines) * 64)                                        \
                         : "cc");                                                                  \
    } while (0)

/* Between two looks at a word that another thread will write: the processor does not look ahead,
 * and leaves its resources to the other thread of its core. */
#if defined(__x86_64__)
#define HAK_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define HAK_PAUSE() __asm__ volatile("isb" ::: "memory")
#else
#define HAK_PAUSE() ((void)0)
#endif

/* The address where the caller's part of the stack ends: what lies above may hold its variables.
 * And a call that first stores there the registers that the caller's callers still need. */
#define HAK_STACK_NOW() ((uintptr_t)__builtin_frame_address(0))
#define HAK_STORE_REGISTERS() __builtin_unwind_init()

/* The value of an expression, with errno as it was before: for functions that must not change it.
 */
#define HAK_KEEP_ERRNO(expression)                                                                 \
    __extension__({                                                                                \
        int hak_errno_before = errno;                                                              \
        __typeof__(expression) hak_value = (expression);                                           \
        errno = hak_errno_before;                                                                  \
        hak_value;                                                                                 \
    })

/* Asks for a line of memory that will be written soon; never faults. */
#define HAK_FETCH(address) __builtin_prefetch(address)

#define HAK_CACHE_LINE 64
#define HAK_LINE_ALIGNED __attribute__((aligned(HAK_CACHE_LINE)))
