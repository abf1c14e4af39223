#include "report/options.h"

#include "policy/policy.h"

static void put_one(hak_text *text, enum hak_option_index option, unsigned long value,
                    const char *quote, const char *equals) {
    char name[32], digits[22];
    hak_option_name(hak_options[option].variable, name);
    HAK_TEXT_ADD(text, quote, name, quote, equals, "\"", hak_option_text(value, digits), "\"");
}

void hak_options_put(hak_text *text, const char *quote, const char *equals) {
    const char *before = "";
    hak_policy policy;
    hak_policy_copy(&policy);
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        if (!hak_option_is_live((enum hak_option_index)i))
            continue;
        HAK_TEXT_ADD(text, before);
        put_one(text, (enum hak_option_index)i, *hak_policy_at(&policy, i), quote, equals);
        before = ",";
    }
}
