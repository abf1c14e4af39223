#include "foreign.h"

/* Every statement has a 64-bit constant of its own, so that no two functions can be folded into
 * one and the code is wide (some 16 bytes a statement) though it runs fast. */
#define CONSTANT(n, k) (((n) * 64u + (k) + 1u) * 0x9E3779B97F4A7C15u)
#define MIX(n, k)                                                                                  \
    a += b ^ CONSTANT(n, 2u * (k));                                                                \
    b += a ^ CONSTANT(n, 2u * (k) + 1u);
#define MIX4(n, k) MIX(n, k) MIX(n, (k) + 1u) MIX(n, (k) + 2u) MIX(n, (k) + 3u)

#define FUNCTION(name, n)                                                                          \
    static __attribute__((noinline)) uint64_t name(uint64_t a) {                                   \
        uint64_t b = ~a;                                                                           \
        MIX4(n, 0u) MIX4(n, 4u) MIX4(n, 8u) MIX4(n, 12u) return a ^ b;                             \
    }

/* Three octal digits number the functions; each level spells eight of them. */
#define DEFINE(digits) FUNCTION(foreign_##digits, UINT64_C(0##digits))
#define NAME(digits) foreign_##digits,
#define EIGHT(apply, d)                                                                            \
    apply(d##0) apply(d##1) apply(d##2) apply(d##3) apply(d##4) apply(d##5) apply(d##6) apply(d##7)
#define EIGHTS(apply, d)                                                                           \
    EIGHT(apply, d##0)                                                                             \
    EIGHT(apply, d##1)                                                                             \
    EIGHT(apply, d##2)                                                                             \
    EIGHT(apply, d##3)                                                                             \
    EIGHT(apply, d##4) EIGHT(apply, d##5) EIGHT(apply, d##6) EIGHT(apply, d##7)
#define ALL(apply)                                                                                 \
    EIGHTS(apply, 0)                                                                               \
    EIGHTS(apply, 1)                                                                               \
    EIGHTS(apply, 2)                                                                               \
    EIGHTS(apply, 3) EIGHTS(apply, 4) EIGHTS(apply, 5) EIGHTS(apply, 6) EIGHTS(apply, 7)

ALL(DEFINE)

foreign_function *const bench_foreign[FOREIGN_FUNCTIONS] = {ALL(NAME)};
