/* Which build of the library this is. What is known when it is compiled comes from CMake; the name
 * of a published version is a digest of the finished file, so nobody knows it in there. */
#pragma once

#include "os/build_id.h"

typedef struct hak_label {
    const char *name, *value; /* NULL: a plain build does not have it */
} hak_label;

enum { HAK_LABELS = 3 };

/* `digits` holds the build-id. */
void hak_build_labels(hak_label labels[HAK_LABELS], char digits[HAK_BUILD_ID_ROOM]);
