// A server without its network: one thread takes requests in, four answer them, each with maps,
// strings and a cache that they share; the answers are let go by the thread that asked.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {
constexpr int THREADS = 4, REQUESTS = 60000, KEYS = 20000;

struct Request {
    unsigned number;
    std::map<std::string, std::string> headers;
};
using Answer = std::vector<std::string>;

template <class T> class Queue {
  public:
    void put(T item) {
        std::lock_guard<std::mutex> hold(lock);
        items.push_back(std::move(item));
        some.notify_one();
    }
    T take() {
        std::unique_lock<std::mutex> hold(lock);
        some.wait(hold, [this] { return !items.empty(); });
        T item = std::move(items.front());
        items.pop_front();
        return item;
    }

  private:
    std::mutex lock;
    std::condition_variable some;
    std::deque<T> items;
};

Queue<std::unique_ptr<Request>> requests;
Queue<std::unique_ptr<Answer>> answers;
std::mutex cache_lock;
std::unordered_map<unsigned, std::shared_ptr<std::string>> cache;

std::shared_ptr<std::string> look_up(unsigned key) {
    std::lock_guard<std::mutex> hold(cache_lock);
    auto &entry = cache[key];
    if (!entry || entry->size() % 7 == 0)
        entry = std::make_shared<std::string>(40 + key % 900, 'c');
    return entry;
}

void answer() {
    while (auto request = requests.take()) {
        auto found = std::make_unique<Answer>();
        for (const auto &[name, value] : request->headers)
            found->push_back(name + ": " + value);
        for (unsigned k = 1; k < 6; k++)
            found->push_back(*look_up(request->number * 2654435761u * k % KEYS));
        answers.put(std::move(found));
    }
}

std::unique_ptr<Request> make(unsigned number) {
    auto request = std::make_unique<Request>();
    request->number = number;
    for (unsigned k = 0; k < 12; k++)
        request->headers["h-" + std::to_string(number % 31 * k)] = std::string(20 + k * 9, 'v');
    return request;
}
} // namespace

int main() {
    std::vector<std::thread> pool;
    for (int i = 0; i < THREADS; i++)
        pool.emplace_back(answer);
    size_t bytes = 0;
    for (unsigned sent = 0, got = 0; got < REQUESTS;) {
        for (; sent < REQUESTS && sent - got < 256; sent++)
            requests.put(make(sent));
        auto one = answers.take();
        for (const auto &line : *one)
            bytes += line.size();
        got++;
    }
    for (int i = 0; i < THREADS; i++)
        requests.put(nullptr);
    for (auto &thread : pool)
        thread.join();
    printf("%zu\n", bytes);
}
