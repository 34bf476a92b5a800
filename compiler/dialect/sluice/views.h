// All operations that are views.
#pragma once

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"

namespace sluice::ir {
namespace detail {

template <typename Op, typename Visitor> void visitIfView(Visitor &visit) {
  if constexpr (Op::template hasTrait<ViewInterface::Trait>())
    visit.template operator()<Op>();
}

template <typename... Ops, typename Visitor> void visitViews(Visitor &visit) {
  (visitIfView<Ops>(visit), ...);
}

} // namespace detail

/// Calls `visit` with each type of operation that implements ViewInterface.
template <typename Visitor> void forEachView(Visitor visit) {
  detail::visitViews<
#define GET_OP_LIST
#include "compiler/dialect/sluice/ops.cpp.inc"
      >(visit);
}

} // namespace sluice::ir
