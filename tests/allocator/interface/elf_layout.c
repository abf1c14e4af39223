/* How the library is linked: needs libc alone, hardened, and loadable by dlopen at any time. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/elf_file.h"

/* What fits into the surplus that glibc keeps for libraries that come by dlopen. */
enum { STATIC_TLS_LIMIT = 64 };

static void needs_only_libc(const ElfFile *file) {
    for (const Elf64_Dyn *entry = file->dynamic; entry->d_tag != DT_NULL; entry++) {
        const char *name = file->strings + entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED)
            CHECK_THAT(strcmp(name, "libc.so.6") == 0, "needs %s", name);
    }
}

static void has_its_own_name(const ElfFile *file) {
    const Elf64_Dyn *name = elf_dynamic(file, DT_SONAME);
    const char *path = getenv("HAKMEM_LIBRARY_PATH");
    CHECK(name && path && strrchr(path, '/'));
    CHECK(strcmp(file->strings + name->d_un.d_val, strrchr(path, '/') + 1) == 0);
    CHECK(!elf_dynamic(file, DT_RPATH) && !elf_dynamic(file, DT_RUNPATH));
}

static void binds_at_once_and_stays(const ElfFile *file) {
    const Elf64_Dyn *flags = elf_dynamic(file, DT_FLAGS);
    const Elf64_Dyn *more = elf_dynamic(file, DT_FLAGS_1);
    CHECK(flags && (flags->d_un.d_val & DF_BIND_NOW));
    CHECK(!(flags->d_un.d_val & DF_TEXTREL) && !elf_dynamic(file, DT_TEXTREL));
    CHECK(more && (more->d_un.d_val & DF_1_NOW));
    CHECK_THAT(more->d_un.d_val & DF_1_NODELETE, "blocks outlive a dlclose of the library");
}

static void has_no_segment_to_write_and_execute(const ElfFile *file) {
    for (size_t i = 0; i < file->header->e_phnum; i++) {
        const Elf64_Phdr *segment = &file->segments[i];
        CHECK_THAT(segment->p_type != PT_LOAD || !(segment->p_flags & PF_W) ||
                       !(segment->p_flags & PF_X),
                   "segment %zu", i);
    }
    const Elf64_Phdr *stack = elf_segment(file, PT_GNU_STACK);
    CHECK_THAT(stack && stack->p_flags == (PF_R | PF_W), "PT_GNU_STACK must say RW");
    CHECK_THAT(elf_segment(file, PT_GNU_RELRO), "no RELRO");
}

#ifdef __x86_64__
/* The bits of GNU_PROPERTY_X86_FEATURE_1_AND; 0: the file has no such property. Each property is
 * its type, the length of its data, and these, padded to eight bytes. */
static uint32_t x86_features(const ElfFile *file) {
    const Elf64_Phdr *segment = elf_segment(file, PT_GNU_PROPERTY);
    if (!segment)
        return 0;
    const Elf64_Nhdr *note = (const void *)(file->bytes + segment->p_offset);
    CHECK(note->n_type == NT_GNU_PROPERTY_TYPE_0 && note->n_namesz == sizeof "GNU");
    const char *entry = (const char *)(note + 1) + sizeof "GNU", *end = entry + note->n_descsz;
    for (uint32_t word[3]; entry + sizeof word <= end; entry += 8 + (word[1] + 7) / 8 * 8) {
        memcpy(word, entry, sizeof word);
        if (word[0] == GNU_PROPERTY_X86_FEATURE_1_AND)
            return word[2];
    }
    return 0;
}

static void is_ready_for_shadow_stacks(const ElfFile *file) {
    CHECK_THAT(x86_features(file) & GNU_PROPERTY_X86_FEATURE_1_SHSTK, "no SHSTK note");
    CHECK_THAT((x86_features(file) & GNU_PROPERTY_X86_FEATURE_1_IBT) == 0,
               "an endbr64 in each function");
}
#else
static void is_ready_for_shadow_stacks(const ElfFile *file) {
    (void)file;
}
#endif

static void has_small_static_tls(const ElfFile *file) {
    const Elf64_Phdr *tls = elf_segment(file, PT_TLS);
    CHECK_THAT(!tls || tls->p_memsz <= STATIC_TLS_LIMIT, "TLS takes %zu bytes",
               (size_t)tls->p_memsz);
}

int main(void) {
    ElfFile file = elf_open_library();
    needs_only_libc(&file);
    has_its_own_name(&file);
    binds_at_once_and_stays(&file);
    has_no_segment_to_write_and_execute(&file);
    has_small_static_tls(&file);
    is_ready_for_shadow_stacks(&file);
    return 0;
}
