/* The library exports the family and hak_*, all of it, and nothing else. */
#include <stdbool.h>
#include <string.h>

#include "../support/check.h"
#include "../support/elf_file.h"
#include "../support/family.h"

static bool in_family(const char *name) {
    for (size_t i = 0; family_names[i]; i++)
        if (strcmp(name, family_names[i]) == 0)
            return true;
    return false;
}

static bool is_exported(const ElfFile *file, const char *name) {
    for (size_t i = 1; i < file->symbol_count; i++)
        if (file->symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(file->strings + file->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

int main(void) {
    ElfFile file = elf_open_library();
    int wrong = 0;
    for (size_t i = 0; family_names[i]; i++) {
        if (!is_exported(&file, family_names[i])) {
            say("not exported: %s", family_names[i]);
            wrong++;
        }
    }
    for (size_t i = 1; i < file.symbol_count; i++) {
        const char *name = file.strings + file.symbols[i].st_name;
        bool nameless = !*name; /* symbols of sections, which some linkers write */
        if (file.symbols[i].st_shndx == SHN_UNDEF || nameless || in_family(name) ||
            strncmp(name, "hak_", 4) == 0)
            continue;
        say("exported, but not of the family: %s", name);
        wrong++;
    }
    CHECK_THAT(wrong == 0, "%d names", wrong);
    return 0;
}
