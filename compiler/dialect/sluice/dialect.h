// The sluice dialect itself, for who registers or loads it. What it means is in ops.td.
#pragma once

#include "mlir/IR/Dialect.h"

#include "compiler/dialect/sluice/dialect.h.inc"
