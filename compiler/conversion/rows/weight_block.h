// The weights of one block: shared by all graphs that multiply by them, with what the compiler asks
// about them found once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace sluice::rows {

/// B*B bf16, [output lane][input position]. They do not change: another block is another object.
class WeightBlock {
public:
  WeightBlock(std::vector<uint16_t> elements);
  WeightBlock(std::initializer_list<uint16_t> elements)
      : WeightBlock(std::vector<uint16_t>(elements)) {}

  [[nodiscard]] const std::vector<uint16_t> &elements() const { return content->elements; }
  operator const std::vector<uint16_t> &() const { return content->elements; }
  [[nodiscard]] size_t size() const { return content->elements.size(); }
  [[nodiscard]] auto begin() const { return content->elements.begin(); }
  [[nodiscard]] auto end() const { return content->elements.end(); }
  uint16_t operator[](size_t element) const { return content->elements[element]; }

  /// Products with it are zero, and not computed: it has only zeros, of either sign, and denormals,
  /// which count as zero in the machine.
  [[nodiscard]] bool isZero() const { return content->zero; }
  /// What a memory holds before a program is loaded; -0 is not.
  [[nodiscard]] bool isCleared() const { return content->cleared; }
  [[nodiscard]] bool isFinite() const { return content->finite; }
  /// The largest sum of significands (128 to 255, 0 for a zero) of the weights of an output lane.
  [[nodiscard]] uint32_t weight() const { return content->weight; }
  /// Equal for equal weights.
  [[nodiscard]] uint64_t hash() const { return content->hash; }

  bool operator==(const WeightBlock &other) const {
    return content == other.content ||
           (content->hash == other.content->hash && content->elements == other.content->elements);
  }
  /// Any order.
  bool operator<(const WeightBlock &other) const {
    return content->hash != other.content->hash ? content->hash < other.content->hash
                                                : content->elements < other.content->elements;
  }

private:
  struct Content {
    std::vector<uint16_t> elements;
    bool zero = true, cleared = true, finite = true;
    uint32_t weight = 0;
    uint64_t hash = 0;
  };
  std::shared_ptr<const Content> content;
};

} // namespace sluice::rows
