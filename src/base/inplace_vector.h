// A vector of at most a fixed number of items, held in place: as std::inplace_vector of C++26. A copy takes what is in
// it, not the whole room.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "base/error.h"

namespace lmsize {

template <class T, std::size_t Most>
class InplaceVector {
 public:
  InplaceVector() noexcept {}
  InplaceVector(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  InplaceVector(const InplaceVector& other) { append(other.begin(), other.end()); }
  InplaceVector& operator=(const InplaceVector& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.begin(), other.end());
    return *this;
  }

  std::size_t size() const { return size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  const T& operator[](std::size_t i) const { return items_[i]; }

  void push_back(const T& item) { append(&item, &item + 1); }
  // Throws InternalError where they do not fit.
  void append(const T* first, const T* last) {
    if (static_cast<std::size_t>(last - first) > Most - size_) throw InternalError("more items than there is room for");
    for (; first != last; ++first) std::construct_at(items_ + size_++, *first);
  }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  union {
    T items_[Most];  // the first size_ of them live
  };
  std::size_t size_ = 0;
};

}  // namespace lmsize
