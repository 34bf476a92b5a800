#include "tools/cli/io/tensor.h"

#include <algorithm>
#include <cassert>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/api/packing.h"
#include "runtime/format/program_file.h"

namespace sluice::io {

int64_t elementCount(const std::vector<int64_t> &shape) {
  constexpr int64_t limit = int64_t{1} << 31;
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0 || extent > limit)
      return -1;
    empty |= extent == 0;
    count *= std::max<int64_t>(extent, 1);
    if (count > limit)
      return -1;
  }
  return empty ? 0 : count;
}

std::vector<double> values(const Tensor &tensor) {
  const size_t bytes = format::elementBytes(tensor.type);
  assert(bytes > 0 && "readers refuse types that are not known");
  std::vector<double> result(tensor.data.size() / bytes);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = runtime::elementOf(tensor.data.data(), tensor.type, i);
  return result;
}

std::variant<std::string, Error> readAll(const std::string &path, std::span<const uint8_t> magic) {
  std::vector<uint8_t> bytes;
  // Not by its name in /dev, which a closed stream does not have.
  auto problem = path == "-" ? format::readStream(STDIN_FILENO, "standard input", bytes, magic)
                             : format::readBytes(path, bytes, magic);
  if (problem)
    return Error{problem->code, problem->message};
  return std::string(bytes.begin(), bytes.end());
}

std::variant<std::vector<Tensor>, Error> readTensors(const std::string &path) {
  if (!path.ends_with(".npy") && !path.ends_with(".npz") && !path.ends_with(".pb") && path != "-")
    return Error{"E0604",
                 fmt::format("'{}' has an unknown extension, allowed: .npy, .npz, .pb", path)};
  const std::string_view magic = path.ends_with(".npz")  ? kNpzMagic
                                 : path.ends_with(".pb") ? std::string_view()
                                                         : kNpyMagic;
  auto bytes = readAll(path, {reinterpret_cast<const uint8_t *>(magic.data()), magic.size()});
  if (auto *error = std::get_if<Error>(&bytes))
    return *error;
  const std::string &text = std::get<std::string>(bytes);
  auto named = [&](const Error &error) {
    return Error{error.code, fmt::format("'{}': {}", path, error.message)};
  };
  if (path.ends_with(".npz")) {
    auto tensors = readNpz(text);
    if (auto *error = std::get_if<Error>(&tensors))
      return named(*error);
    return std::get<std::vector<Tensor>>(std::move(tensors));
  }
  auto tensor = path.ends_with(".pb") ? readTensorProto(text) : readNpy(text);
  if (auto *error = std::get_if<Error>(&tensor))
    return named(*error);
  return std::vector<Tensor>{std::get<Tensor>(std::move(tensor))};
}

} // namespace sluice::io
