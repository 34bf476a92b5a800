// What a sum of products begins with: shared by all rows that begin so, with what the compiler asks
// about it found once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace sluice::rows {

/// B fp32, or none: the sum begins with zeros. The lanes do not change: another bias is another
/// object.
class Bias {
public:
  Bias() = default;
  Bias(std::vector<float> lanes);
  Bias(std::initializer_list<float> lanes) : Bias(std::vector<float>(lanes)) {}

  /// Empty, if there is none.
  [[nodiscard]] const std::vector<float> &lanes() const { return content->lanes; }
  [[nodiscard]] bool empty() const { return content->lanes.empty(); }
  [[nodiscard]] size_t size() const { return content->lanes.size(); }
  [[nodiscard]] auto begin() const { return content->lanes.begin(); }
  [[nodiscard]] auto end() const { return content->lanes.end(); }
  float operator[](size_t lane) const { return content->lanes[lane]; }

  /// A sum that begins with it needs no preload row: all lanes are zero, of either sign.
  [[nodiscard]] bool isZero() const { return content->zero; }
  [[nodiscard]] bool isFinite() const { return content->finite; }
  /// All lanes are the same number.
  [[nodiscard]] bool isUniform() const { return content->uniform; }

  /// The same bits.
  bool operator==(const Bias &other) const;

private:
  struct Content {
    std::vector<float> lanes;
    bool zero = true, finite = true, uniform = true;
    uint64_t hash = 0;
  };
  static const std::shared_ptr<const Content> &none();

  std::shared_ptr<const Content> content = none();
};

} // namespace sluice::rows
