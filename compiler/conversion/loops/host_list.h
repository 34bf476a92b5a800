// The list of the host port: inputs in the order in which they are offered.
#pragma once

#include "compiler/conversion/loops/links.h"
#include "compiler/conversion/loops/list.h"

namespace sluice::loops {

List hostList(const rows::Program &program, const Map &map, const Choice &choice,
              const Links &links);

} // namespace sluice::loops
