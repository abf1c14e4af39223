/* Probes that tools place breakpoints on (USDT): one nop in the code, and a note in the file that
 * says where it lies and where its values are just then. Nobody watches: that is all.
 *
 *   code:   ... nop ...          .note.stapsdt:  | place of the nop | base | 0 | "hakmem" | "refill"
 *                ^ a watcher's breakpoint         | "8@%rdi 8@%rax"  |
 *
 * Written here and not taken from <sys/sdt.h>: so the same source is the same library everywhere.
 * The format: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation. docs/probes.md
 * has the probes. */
#pragma once

#include <stdint.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
/* The base lets tools see that a file was moved as a whole after it was linked. */
#define HAK_PROBE_TEXT(name, values)                                                               \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                 \
    ".balign 4\n"                                                                                  \
    ".4byte 992f - 991f, 994f - 993f, 3\n"                                                         \
    "991: .asciz \"stapsdt\"\n"                                                                    \
    "992: .balign 4\n"                                                                             \
    "993: .8byte 990b, _.stapsdt.base, 0\n"                                                        \
    ".asciz \"hakmem\"\n"                                                                          \
    ".asciz \"" #name "\"\n"                                                                       \
    ".asciz \"" values "\"\n"                                                                      \
    "994: .balign 4\n"                                                                             \
    ".popsection\n"                                                                                \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                    \
    ".weak _.stapsdt.base\n"                                                                       \
    ".hidden _.stapsdt.base\n"                                                                     \
    "_.stapsdt.base: .space 1\n"                                                                   \
    ".size _.stapsdt.base, 1\n"                                                                    \
    ".popsection\n"                                                                                \
    ".endif\n"
/* Of a value in memory clang would make a copy on the stack: so it lies in a register, or in the
 * note. */
#define HAK_PROBE_VALUE(x) "nr"((uint64_t)(x))
#define HAK_PROBE(name, a, b)                                                                      \
    __asm__ volatile(HAK_PROBE_TEXT(name, "8@%0 8@%1")::HAK_PROBE_VALUE(a), HAK_PROBE_VALUE(b))
/* A class stays as wide as it is: to widen it would take a register more on the slow paths. */
#define HAK_PROBE_OF_CLASS(name, cls, b)                                                           \
    __asm__ volatile(HAK_PROBE_TEXT(name, "4@%0 8@%1")::"nr"((uint32_t)(cls)), HAK_PROBE_VALUE(b))
#else
#define HAK_PROBE(name, a, b) ((void)(a), (void)(b))
#define HAK_PROBE_OF_CLASS(name, cls, b) ((void)(cls), (void)(b))
#endif
