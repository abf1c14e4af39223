#include "report/build.h"

#include <stddef.h>

static const char *known(const char *value) {
    return *value != '\0' ? value : NULL;
}

void hak_build_labels(hak_label labels[HAK_LABELS], char digits[HAK_BUILD_ID_ROOM]) {
    hak_os_build_id(digits);
    labels[0] = (hak_label){"profile", known(HAK_PROFILE)};
    labels[1] = (hak_label){"cpu", known(HAK_CPU)};
    labels[2] = (hak_label){"build_id", known(digits)};
}
