/* What the compiler calls for each access to memory (-fsanitize=thread), and the system's futex. */
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inside.h"

/* ---- plain accesses ---- */

#define PLAIN(bytes)                                                                               \
    void __tsan_read##bytes(void *p);                                                              \
    void __tsan_read##bytes(void *p) {                                                             \
        model_access(p, bytes, false);                                                             \
    }                                                                                              \
    void __tsan_write##bytes(void *p);                                                             \
    void __tsan_write##bytes(void *p) {                                                            \
        model_access(p, bytes, true);                                                              \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *p);                                                    \
    void __tsan_unaligned_read##bytes(void *p) {                                                   \
        model_access(p, bytes, false);                                                             \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *p);                                                   \
    void __tsan_unaligned_write##bytes(void *p) {                                                  \
        model_access(p, bytes, true);                                                              \
    }                                                                                              \
    void __tsan_read_write##bytes(void *p);                                                        \
    void __tsan_read_write##bytes(void *p) {                                                       \
        model_access(p, bytes, true);                                                              \
    }                                                                                              \
    void __tsan_unaligned_read_write##bytes(void *p);                                              \
    void __tsan_unaligned_read_write##bytes(void *p) {                                             \
        model_access(p, bytes, true);                                                              \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes) {
    model_access(p, bytes, false);
}
void __tsan_write_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes) {
    model_access(p, bytes, true);
}
void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes) {
    model_access(to, bytes, true);
    return memset(to, value, bytes);
}
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    model_access(from, bytes, false);
    model_access(to, bytes, true);
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    model_access(from, bytes, false);
    model_access(to, bytes, true);
    return memmove(to, from, bytes);
}

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
    (void)caller;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

/* Between them reads race on purpose. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsBegin(const char *file, int line) {
    (void)file, (void)line;
    model_ignores_reads++;
}
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line) {
    (void)file, (void)line;
    model_ignores_reads--;
}

/* ---- atomic operations ---- */

static uint64_t put(uint64_t old, uint64_t operand) {
    (void)old;
    return operand;
}
static uint64_t add(uint64_t old, uint64_t operand) {
    return old + operand;
}
static uint64_t subtract(uint64_t old, uint64_t operand) {
    return old - operand;
}
static uint64_t and(uint64_t old, uint64_t operand) {
    return old & operand;
}
static uint64_t or(uint64_t old, uint64_t operand) {
    return old | operand;
}
static uint64_t xor(uint64_t old, uint64_t operand) {
    return old ^ operand;
}

/* Outside of an execution nothing is explored. */
static uint64_t perform(void *place, unsigned bytes, const atomic_kind *kind, uint64_t operand,
                        uint64_t expected, bool *done) {
    if (model_self >= 0)
        return model_atomic(place, bytes, kind, operand, expected, done);
    uint64_t old = 0;
    memcpy(&old, place, bytes);
    *done = kind->change != NULL && (!kind->compares || old == expected);
    if (*done) {
        uint64_t value = kind->change(old, operand);
        model_log(place, bytes);
        memcpy(place, &value, bytes);
    }
    return old;
}

#define MODIFY(type, bits, name, function)                                                         \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int order);                        \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) {                       \
        const atomic_kind kind = {function, false, true, order, order};                            \
        bool done;                                                                                 \
        return (type)perform((void *)(uintptr_t)p, bits / 8, &kind, v, 0, &done);                  \
    }

#define COMPARE(type, bits, name)                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v,    \
                                                      int order, int failed);                      \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v,    \
                                                      int order, int failed) {                     \
        const atomic_kind kind = {put, true, true, order, failed};                                 \
        bool done;                                                                                 \
        uint64_t old =                                                                             \
            perform((void *)(uintptr_t)p, bits / 8, &kind, v, (uint64_t)*expected, &done);         \
        *expected = (type)old;                                                                     \
        return done;                                                                               \
    }

#define ATOMIC(type, bits)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                            \
    type __tsan_atomic##bits##_load(const volatile type *p, int order) {                           \
        const atomic_kind kind = {NULL, false, false, order, order};                               \
        bool done;                                                                                 \
        return (type)perform((void *)(uintptr_t)p, bits / 8, &kind, 0, 0, &done);                  \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order);                         \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order) {                        \
        const atomic_kind kind = {put, false, false, order, order};                                \
        bool done;                                                                                 \
        perform((void *)(uintptr_t)p, bits / 8, &kind, v, 0, &done);                               \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,       \
                                                    int order, int failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,       \
                                                    int order, int failed) {                       \
        const atomic_kind kind = {put, true, true, order, failed};                                 \
        bool done;                                                                                 \
        return (type)perform((void *)(uintptr_t)p, bits / 8, &kind, v, expected, &done);           \
    }                                                                                              \
    COMPARE(type, bits, strong)                                                                    \
    COMPARE(type, bits, weak)                                                                      \
    MODIFY(type, bits, exchange, put)                                                              \
    MODIFY(type, bits, fetch_add, add)                                                             \
    MODIFY(type, bits, fetch_sub, subtract)                                                        \
    MODIFY(type, bits, fetch_and, and)                                                             \
    MODIFY(type, bits, fetch_or, or)                                                               \
    MODIFY(type, bits, fetch_xor, xor)
ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    if (model_self >= 0)
        model_fence(order);
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) {
    (void)order; /* no signals here */
}

/* ---- the futex ---- */

static long futex(uint32_t *word, int operation, uint32_t value) {
    model_step(word, true);
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE)
        return model_wake(word, (int)value);
    if (*word == value) /* the system sees the last store */
        model_sleep(word);
    return 0;
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    va_list words;
    va_start(words, number);
    uint32_t *word = va_arg(words, uint32_t *);
    int operation = va_arg(words, int);
    uint32_t value = va_arg(words, uint32_t);
    va_end(words);
    if (number != SYS_futex || model_self < 0) {
        model_failed("a call of the system that the checker does not know");
        return -1;
    }
    return futex(word, operation, value);
}
