// An index as a server may have: entries that each request walks, and beside each what is known of
// it, which nobody looks at. Nothing here names a hint: the compiler puts it in by a memory
// profile.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct details {
    char text[48];
};

struct entry {
    entry *next;
    details *known;
    std::uint64_t key, hits, more[2];
};
static_assert(sizeof(entry) == sizeof(details), "both of one size class");

__attribute__((noinline)) entry *make_entry(std::uint64_t key, entry *next) {
    return new entry{next, nullptr, key, 0, {}};
}

__attribute__((noinline)) details *make_details(std::uint64_t key) {
    auto *known = new details;
    std::snprintf(known->text, sizeof known->text, "entry %llu",
                  static_cast<unsigned long long>(key));
    return known;
}

std::uintptr_t page_of(const void *block) {
    return reinterpret_cast<std::uintptr_t>(block) >> 16;
}

// Details that lie on a page of 64 KiB with an entry.
std::size_t shared_pages(const std::vector<entry *> &all) {
    std::vector<std::uintptr_t> walked;
    for (const entry *one : all)
        walked.push_back(page_of(one));
    std::sort(walked.begin(), walked.end());
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const entry *one) {
        return std::binary_search(walked.begin(), walked.end(), page_of(one->known));
    }));
}

} // namespace

int main(int argc, char **argv) {
    std::size_t entries = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
    std::size_t walks = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2000;
    std::vector<entry *> all;
    for (std::size_t i = 0; i < entries; i++) {
        all.push_back(make_entry(i, all.empty() ? nullptr : all.back()));
        all.back()->known = make_details(i);
    }
    std::uint64_t sum = 0;
    for (std::size_t walk = 0; walk < walks; walk++)
        for (entry *at = all.back(); at != nullptr; at = at->next)
            sum += at->key + at->hits++;
    std::printf("sum=%llu shared=%zu\n", static_cast<unsigned long long>(sum), shared_pages(all));
    for (entry *one : all) {
        delete one->known;
        delete one;
    }
    return 0;
}
