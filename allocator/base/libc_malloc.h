/* libc's <malloc.h>, and what glibc's has in addition, also where libc lacks it (musl): a program
 * that declares these itself can call the functions. */
#pragma once

#include <malloc.h>
#include <stddef.h>

#ifndef __GLIBC__
#define M_TRIM_THRESHOLD (-1) /* of mallopt */

struct mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

struct mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
#endif
