#include "report/build.h"

#include "policy/policy.h"

static const char *known(const char *value) {
    return *value != '\0' ? value : NULL;
}

void hak_build_labels(hak_label labels[HAK_LABELS], char digits[HAK_BUILD_ID_ROOM]) {
    hak_os_build_id(digits);
    labels[0] = (hak_label){"profile", known(HAK_PROFILE)};
    labels[1] = (hak_label){"cpu", known(HAK_CPU)};
    labels[2] = (hak_label){"build_id", known(digits)};
}

void hak_options_put(hak_text *text, const char *quote, const char *equals) {
    const char *before = "";
    char name[32], digits[22];
    hak_policy policy;
    hak_policy_copy(&policy);
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        if (!hak_option_is_live((enum hak_option_index)i))
            continue;
        hak_text_add(text, "%s%s%s%s%s\"%s\"", before, quote,
                     hak_option_name(hak_options[i].variable, name), quote, equals,
                     hak_option_text(*hak_policy_at(&policy, i), digits));
        before = ",";
    }
}
