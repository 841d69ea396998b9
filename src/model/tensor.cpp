#include "model/tensor.h"

namespace lmsize {

Int Shape::elements() const {
  Int product = 1;
  for (const Extent& side : *this) product = multiply(product, side.value());
  return product;
}

}  // namespace lmsize
