/* A preloadable library that replaces labs(3): enough to be judged, and as slow as asked for.
 * PLACE is the section of its code, ROUNDS how much it does per call. */
#include <stdlib.h>

__attribute__((section(PLACE), noinline)) static long spin(long x) {
    for (volatile int i = 0; i < ROUNDS; i++)
        x += i & 1;
    return x;
}

__attribute__((section(PLACE))) long labs(long x) {
    long positive = x < 0 ? -x : x;
    return spin(positive);
}
