/* The build-id of the file that this code is linked into: the library, or a program that has it
 * inside. By it the published version and the debug file are found. */
#pragma once

enum { HAK_BUILD_ID_ROOM = 2 * 32 + 1 }; /* SHA-1 has 20 bytes, the longest of lld 32 */

/* In hexadecimal digits; "" where the linker was not asked for one. Nothing is opened. The first
 * call walks the loader's list of files, under its lock, as exceptions do. */
void hak_os_build_id(char digits[HAK_BUILD_ID_ROOM]);
