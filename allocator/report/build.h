/* What all texts say of the library itself: which build it is, and the options in force. What is
 * known when it is compiled comes from CMake; the name of a published version is a digest of the
 * finished file, so nobody knows it in there. */
#pragma once

#include "base/text.h"
#include "os/object.h"

typedef struct hak_label {
    const char *name, *value; /* NULL: a plain build does not have it */
} hak_label;

enum { HAK_LABELS = 3 };

/* `digits` holds the build-id. */
void hak_build_labels(hak_label labels[HAK_LABELS], char digits[HAK_BUILD_ID_ROOM]);

/* Puts <quote>name<quote><equals>"value" for each option that may change while the program runs,
 * with commas between: purge_delay="500" or "purge_delay":"500". A share stands as it was given:
 * "80%". */
void hak_options_put(hak_text *text, const char *quote, const char *equals);
