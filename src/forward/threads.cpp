#include "forward/threads.h"

namespace lmsize {

Threads::Threads(std::size_t n) {
  for (std::size_t i = 1; i < n; ++i) workers_.emplace_back([this] { serve(); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Threads::each(std::size_t n, const std::function<void(std::size_t)>& work) {
  if (workers_.empty() || n < 2) {
    for (std::size_t i = 0; i < n; ++i) work(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    n_ = n;
    next_ = 0;
    busy_ = workers_.size();
    ++round_;
  }
  wake_.notify_all();
  take_all();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Threads::take_all() {
  for (std::size_t i = next_++; i < n_; i = next_++) (*work_)(i);
}

void Threads::serve() {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    take_all();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace lmsize
