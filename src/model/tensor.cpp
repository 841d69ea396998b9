#include "model/tensor.h"

namespace lmsize {

Shape::Shape(std::initializer_list<Extent> sides) {
  if (sides.size() > sides_.size()) throw InternalError("a tensor has at most five sides");
  for (const Extent& side : sides) sides_[size_++] = side;
}

Int Shape::elements() const {
  Int product = 1;
  for (const Extent& side : *this) product = multiply(product, side.value());
  return product;
}

}  // namespace lmsize
