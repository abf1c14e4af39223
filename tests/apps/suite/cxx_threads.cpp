// Threads that build, throw, hand over and destroy: strings, maps, shared pointers, over-aligned
// objects, exceptions that cross threads, thread-local destructors. Prints sums alone.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

constexpr int Workers = 6;
constexpr int Rounds = 40000;

struct alignas(256) Wide {
    std::array<unsigned char, 700> bytes{};
};

struct Node {
    std::string name;
    std::vector<std::shared_ptr<Node>> children;
    std::variant<int, std::string, std::vector<double>> value;
};

std::shared_ptr<Node> grow(std::mt19937 &random, int depth) {
    auto node = std::make_shared<Node>();
    node->name = std::string(random() % 90, static_cast<char>('a' + depth));
    if (depth % 3 == 0) node->value = std::string(random() % 500, 'x');
    if (depth % 3 == 1) node->value = std::vector<double>(random() % 60, 1.0);
    for (unsigned i = 0; depth > 0 && i < 3; i++) node->children.push_back(grow(random, depth - 1));
    return node;
}

unsigned long weigh(const Node &node) {
    unsigned long sum = node.name.size();
    for (const auto &child : node.children) sum += weigh(*child);
    return sum;
}

// A queue through which blocks are freed by another thread than the one that allocated them.
class Channel {
  public:
    void push(std::unique_ptr<std::string> item) {
        const std::lock_guard lock(mutex_);
        items_.push_back(std::move(item));
        ready_.notify_one();
    }
    std::unique_ptr<std::string> pop() {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return !items_.empty(); });
        auto item = std::move(items_.front());
        items_.pop_front();
        return item;
    }

  private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::unique_ptr<std::string>> items_;
};

struct Local {
    std::vector<std::string> kept;
    ~Local() { kept.emplace_back(1000, 'l'); } // allocates while its thread ends
};
thread_local Local local;

unsigned long throwing(int worker) {
    unsigned long caught = 0;
    for (int i = 0; i < Rounds; i++) {
        try {
            const std::string message(static_cast<size_t>(i % 300), 'e');
            if (i % 2 == 0) throw std::runtime_error(message);
            throw std::out_of_range(message + std::to_string(worker % 2));
        } catch (const std::out_of_range &error) {
            caught += std::string(error.what()).size();
        } catch (const std::exception &error) {
            caught += std::string(error.what()).size() * 2;
        }
    }
    return caught;
}

unsigned long work(int worker, Channel &mine, Channel &next) {
    std::mt19937 random(static_cast<unsigned>(worker));
    std::unordered_map<unsigned, std::string> table;
    std::map<std::string, std::unique_ptr<Wide>> wide;
    unsigned long sum = throwing(worker);
    for (int i = 0; i < Rounds; i++) {
        table[random() % 700] = std::string(random() % 2000, 'v');
        table.erase(random() % 700);
        auto block = std::make_unique<Wide>();
        if (reinterpret_cast<uintptr_t>(block.get()) % 256 != 0) throw std::logic_error("alignment");
        wide[std::to_string(random() % 200)] = std::move(block);
        next.push(std::make_unique<std::string>(random() % 5000, 'h'));
        sum += mine.pop()->size();
        local.kept.emplace_back(random() % 100, 'k');
    }
    for (const auto &[key, text] : table) sum += key + text.size();
    return sum + wide.size();
}

unsigned long exceptions_across_threads() {
    unsigned long sum = 0;
    for (int i = 0; i < 300; i++) {
        auto future = std::async(std::launch::async, [i] {
            if (i % 3 == 0) throw std::runtime_error(std::string(static_cast<size_t>(i), '!'));
            return std::vector<int>(static_cast<size_t>(i * 10), i);
        });
        try {
            sum += future.get().size();
        } catch (const std::runtime_error &error) {
            sum += std::string(error.what()).size();
        }
    }
    return sum;
}

bool refuses_too_much() {
    const volatile size_t half = static_cast<size_t>(-1) / 4;
    try {
        delete[] new char[half];
    } catch (const std::bad_alloc &) {
        return new (std::nothrow) char[half] == nullptr;
    }
    return false;
}

} // namespace

int main() {
    std::array<Channel, Workers> channels;
    std::vector<std::future<unsigned long>> results;
    for (int i = 0; i < Workers; i++) {
        results.push_back(std::async(std::launch::async, work, i,
                                     std::ref(channels[static_cast<size_t>(i)]),
                                     std::ref(channels[static_cast<size_t>((i + 1) % Workers)])));
    }
    unsigned long total = 0;
    for (auto &result : results) std::printf("worker %lu\n", total += result.get());
    std::mt19937 random(7);
    const auto tree = grow(random, 9);
    std::printf("tree %lu\n", weigh(*tree));
    std::printf("futures %lu\n", exceptions_across_threads());
    std::printf("bad_alloc %d\n", refuses_too_much());
    return 0;
}
