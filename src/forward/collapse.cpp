#include "forward/collapse.h"

#include <Eigen/Dense>

namespace lmsize {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

Eigen::MatrixXd matrix_of(const LinearMap& map) {
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Strides strides(index(map.in_stride), index(map.out_stride));
  return Eigen::Map<const Eigen::MatrixXf, Eigen::Unaligned, Strides>(map.weight, index(map.out), index(map.in),
                                                                      strides)
      .cast<double>();
}

Eigen::VectorXd bias_of(const LinearMap& map) {
  if (map.bias == nullptr) return Eigen::VectorXd::Zero(index(map.out));
  return Eigen::Map<const Eigen::VectorXf>(map.bias, index(map.out)).cast<double>();
}

Eigen::Map<const RowMajor> rows_of(const Rows<double>& x) { return {x.values.data(), index(x.rows), index(x.columns)}; }

}  // namespace

Collapse collapse(const LinearMap& up, const LinearMap& down, const Rows<double>& x, const Rows<double>& two,
                  const Rows<double>& with_gelu) {
  const Eigen::MatrixXd w_up = matrix_of(up), w_down = matrix_of(down);
  const Eigen::MatrixXd one = w_down * w_up;
  const Eigen::VectorXd bias = w_down * bias_of(up) + bias_of(down);
  const RowMajor y = (rows_of(x) * one.transpose()).rowwise() + bias.transpose();
  return {.parameters_two = w_up.size() + w_down.size(),
          .parameters_one = one.size(),
          .rank = one.colPivHouseholderQr().rank(),
          .max_abs_difference = (y - rows_of(two)).cwiseAbs().maxCoeff(),
          .gelu_max_abs_difference = (y - rows_of(with_gelu)).cwiseAbs().maxCoeff()};
}

}  // namespace lmsize
