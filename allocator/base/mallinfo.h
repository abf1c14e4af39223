/* The structures of mallinfo and mallinfo2, also where libc has neither (musl): with the members
 * that glibc gives them, so that a program which declares them itself can call the functions. */
#ifndef HAK_BASE_MALLINFO_H
#define HAK_BASE_MALLINFO_H

#include <malloc.h>
#include <stddef.h>

#ifndef __GLIBC__
struct mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

struct mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
#endif

#endif
