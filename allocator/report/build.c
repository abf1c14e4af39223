/* What all texts say of the library itself: which build it is, and the options in force. What is
 * known when it is compiled comes from CMake; the name of a published version is a digest of the
 * finished file, so nobody knows it in there. */
#include "os/object.h"
#include "policy/policy.h"
#include "report/figures.h"

/* ,name="value" as Prometheus has it, or "name":"value", as JSON. An empty value is an unknown
 * one. */
static void put(hak_text *text, bool json, const char *before, const char *name,
                const char *value) {
    const char *quote = json ? "\"" : "";
    bool known = *value != '\0';
    if (known || json)
        hak_text_add(text, known ? "%s%s%s%s%s\"%s\"" : "%s%s%s%s%snull", before, quote, name,
                     quote, json ? ":" : "=", value);
}

void hak_build_put(hak_text *text, bool json) {
    char digits[HAK_BUILD_ID_ROOM];
    hak_os_build_id(digits);
    put(text, json, json ? "" : ",", "profile", HAK_PROFILE);
    put(text, json, ",", "cpu", HAK_CPU);
    put(text, json, ",", "build_id", digits);
}

void hak_options_put(hak_text *text, bool json) {
    const char *before = "";
    char name[32], value[22];
    hak_policy policy;
    hak_policy_copy(&policy);
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        if (!hak_option_is_live((enum hak_option_index)i))
            continue;
        put(text, json, before, hak_option_name(hak_options[i].variable, name),
            hak_option_text(*hak_policy_at(&policy, i), value));
        before = ",";
    }
}
