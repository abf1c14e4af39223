/* Errors of the system in words, without libc's strerror: that one may allocate. */
#pragma once

/* Why a file cannot be made or written, as the end of a sentence; NULL: one that has no words. */
const char *hak_os_reason(int error);
