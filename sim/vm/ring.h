// A FIFO queue in one block of memory.
#pragma once

#include <cstddef>
#include <vector>

namespace sluice::vm {

/// A queue that grows when it is full and never shrinks. Iteration begins with the oldest entry.
template <class T> class Ring {
public:
  explicit Ring(size_t capacity = 16) : slots(capacity) {}

  bool empty() const { return count == 0; }
  size_t size() const { return count; }
  T &front() { return slots[head]; }
  const T &front() const { return slots[head]; }
  T &back() { return (*this)[count - 1]; }
  T &operator[](size_t index) { return slots[(head + index) & (slots.size() - 1)]; }
  const T &operator[](size_t index) const { return slots[(head + index) & (slots.size() - 1)]; }

  void push(const T &value) {
    if (count == slots.size())
      grow();
    slots[(head + count++) & (slots.size() - 1)] = value;
  }
  void pop() {
    head = (head + 1) & (slots.size() - 1);
    --count;
  }

private:
  void grow() {
    std::vector<T> larger(slots.size() * 2);
    for (size_t i = 0; i < count; ++i)
      larger[i] = (*this)[i];
    slots.swap(larger);
    head = 0;
  }

  std::vector<T> slots; ///< a power of two
  size_t head = 0;
  size_t count = 0;
};

} // namespace sluice::vm
