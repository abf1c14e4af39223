/* The file that this code is linked into: the library, or a program that has it inside. Nothing is
 * opened: the loader's list of files is walked, under its lock, as exceptions do. */
#pragma once

#include <stdint.h>

enum { HAK_BUILD_ID_ROOM = 2 * 32 + 1 }; /* SHA-1 has 20 bytes, the longest of lld 32 */

/* Its build-id, by which the published version and the debug file are found, in hexadecimal digits;
 * "" where the linker was not asked for one. Only the first call walks the list. */
void hak_os_build_id(char digits[HAK_BUILD_ID_ROOM]);

/* Where the library's code and variables lie; from 0 to 0 where it is a part of the program. */
void hak_os_own(uintptr_t *from, uintptr_t *to);
