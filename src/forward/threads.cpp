#include "forward/threads.h"

namespace lmsize {
namespace {

// Returns when it is no longer `value`. The next piece of work mostly comes within the time that waking up takes: so at
// first others are only let pass.
void wait_while(const std::atomic<unsigned>& atomic, unsigned value) {
  constexpr int kLooks = 300;
  for (int i = 0; i < kLooks; ++i) {
    if (atomic != value) return;
    std::this_thread::yield();
  }
  atomic.wait(value);
}

}  // namespace

Threads::Threads(std::size_t n) {
  for (std::size_t i = 1; i < n; ++i) workers_.emplace_back([this] { serve(); });
}

Threads::~Threads() {
  stop_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Threads::each(std::size_t n, const std::function<void(std::size_t)>& work) {
  if (workers_.empty() || n < 2) {
    for (std::size_t i = 0; i < n; ++i) work(i);
    return;
  }
  work_ = &work;
  n_ = n;
  next_ = 0;
  busy_ = static_cast<unsigned>(workers_.size());
  ++round_;
  round_.notify_all();
  take_all();
  for (unsigned busy = busy_; busy != 0; busy = busy_) wait_while(busy_, busy);
}

void Threads::take_all() {
  for (std::size_t i = next_++; i < n_; i = next_++) (*work_)(i);
}

void Threads::serve() {
  for (unsigned seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (stop_) return;
    take_all();
    if (--busy_ == 0) busy_.notify_one();
  }
}

}  // namespace lmsize
