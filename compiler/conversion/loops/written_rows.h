// What the rows are that an instruction of a list with loops writes.
#pragma once

#include "compiler/conversion/loops/list.h"
#include "compiler/conversion/plan/beats/row_rules.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

/// By instruction of a list, the rules of the rows that it writes.
std::vector<std::vector<format::RowRule>> rowRules(const rows::Program &program, const List &list);

} // namespace sluice::loops
