// Threads that share work.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace lmsize {

class Threads {
 public:
  // n threads in all, the caller's among them; at least 1.
  explicit Threads(std::size_t n);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t size() const { return workers_.size() + 1; }
  // Calls work(i) for each i below n, in any order, and returns when all are done. `work` must not throw.
  void each(std::size_t n, const std::function<void(std::size_t)>& work);

 private:
  void serve();
  void take_all();

  std::vector<std::thread> workers_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t n_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<unsigned> round_{0}, busy_{0};  // rounds begun; workers that have not finished theirs
  std::atomic<bool> stop_{false};
};

}  // namespace lmsize
