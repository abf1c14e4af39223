/* What the system says about the whole process. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct hak_process {
    size_t minor_faults, major_faults;
    size_t resident; /* bytes; 0: it does not say */
} hak_process;

/* Under a filter of system calls no file is opened, and `resident` is 0. errno is kept. */
hak_process hak_process_now(void);
