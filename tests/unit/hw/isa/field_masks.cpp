// Prints which bits of an encoded instruction each field occupies, found by
// encoding all-ones into that field alone.
#include <cstdio>

#include "hw/isa/isa.h"

using namespace sluice::isa;

int main() {
  for (const InstructionInfo &inst : instructions())
    for (const FieldInfo &field : inst.fields) {
      Words words{};
      for (unsigned i = 0; i < field.count; ++i)
        if (!setField(words, field, i,
                      field.isSigned ? -1 : static_cast<int64_t>((uint64_t{1} << field.bits) - 1)))
          return 1;
      std::printf("MASK %s %s ", std::string(inst.name).c_str(), std::string(field.name).c_str());
      for (unsigned w = kWords; w-- > 0;)
        std::printf("%016llx", static_cast<unsigned long long>(words[w]));
      std::printf("\n");
    }
  return 0;
}
