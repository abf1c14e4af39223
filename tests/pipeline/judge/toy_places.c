/* Sixteen functions of one line each, STEP bytes apart, called in turn when the library is loaded.
 * 4096 bytes apart all of them belong into one set of a cache of 32 KiB with 8 ways. */
#define ONE(n)                                                                                     \
    __attribute__((noinline, aligned(STEP))) static int one##n(int x) {                            \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x + n;                                                                              \
    }
// clang-format off
ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7)
ONE(8) ONE(9) ONE(10) ONE(11) ONE(12) ONE(13) ONE(14) ONE(15)
    // clang-format on

    __attribute__((constructor)) static void in_turn(void) {
    int (*const volatile all[])(int) = {
        one0, one1, one2,  one3,  one4,  one5,  one6,  one7,
        one8, one9, one10, one11, one12, one13, one14, one15,
    };
    for (int i = 0; i < 1000 * 16; i++)
        all[i % 16](i);
}
