/* A call far down the stack, for tests of leaks: what a function leaves behind on the stack lies
 * far from where the program ends, and registers are full of other things by then. */
#pragma once

__attribute__((noinline)) static void far_down(void (*act)(void), int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    if (depth != 0)
        far_down(act, depth - 1);
    else
        act();
    room[sizeof room - 1] = room[0];
}
