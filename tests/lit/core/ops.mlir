// Every instruction prints the fields that are not at their defaults, by name.
// RUN: sluice-opt %s | FileCheck %s
// RUN: sluice-opt %s | sluice-opt | FileCheck %s

// CHECK: core.program "c2b8" geometry {
// CHECK-SAME: cores = 2
// CHECK-SAME: output_rows 1
core.program "c2b8" geometry {
    rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 2048, inbox_rows = 1024,
    local_rows = 256, accumulators = 32, preload_rows = 256, instructions = 512,
    host_instructions = 32, tables = 4, clock_mhz = 300} output_rows 1 {
  // CHECK-NEXT: core.core 0 {
  core.core 0 {
    // CHECK-NEXT: core.setreg(index = 1, imm = -4)
    core.setreg(index = 1, imm = -4)
    // CHECK-NEXT: core.loop(count = 3)
    core.loop(count = 3)
    // CHECK-NEXT: core.mm(n = [1, 1, 2, 3], wait_en = 1, wait_count = 1, wait_level = 4, x = 10, x_stride = [0, 0, 0, 1], x_reg = 1, w_stride = [0, 0, 3, 1], acc_stride = [0, 0, 1, 0], init = zero, init_level = 3, emit = fp32, emit_level = 3, nodes = [0, 2])
    core.mm(n = [1, 1, 2, 3], wait_en = 1, wait_token = 0, wait_count = 1, wait_level = 4, x = 10,
            x_stride = [0, 0, 0, 1], x_reg = 1, w_stride = [0, 0, 3, 1], acc_stride = [0, 0, 1, 0],
            init = zero, init_level = 3, emit = fp32, emit_level = 3, nodes = [0, 2])
    // CHECK-NEXT: core.addreg(index = 1, imm = 1)
    core.addreg(imm = 1, index = 1)
    // CHECK-NEXT: core.endloop
    core.endloop
    // CHECK-NEXT: core.vec(sig_en = 1, a_src = mxu, alu1 = add, rhs1 = imm, imm1 = 1065353216, post = relu, dst_kind = net, mask = 256)
    core.vec(sig_en = 1, a_src = mxu, alu1 = add, rhs1 = imm, imm1 = 1065353216, post = relu,
             dst_kind = net, mask = 256)
    // CHECK-NEXT: core.restart
    core.restart
  }
  // CHECK: core.core 1 {
  // CHECK-NEXT: core.mm(x_reg = 2, x_ring = 4)
  // CHECK-NEXT: core.vec(a_ring = 15, b_ring = 1, c_ring = 2, dst_reg = 3, dst_ring = 10)
  // CHECK-NEXT: core.halt
  core.core 1 {
    core.mm(x_reg = 2, x_ring = 4)
    core.vec(a_ring = 15, b_ring = 1, c_ring = 2, dst_reg = 3, dst_ring = 10)
    core.halt
  }
  // CHECK: core.host {
  // CHECK-NEXT: core.input(sig_en = 1, sig_units = 1, mask = 1)
  // CHECK-NEXT: core.addreg(index = 1, imm = 2)
  // CHECK-NEXT: core.input(dst = 8, dst_reg = 1, dst_ring = 3, mask = 1)
  // CHECK-NEXT: core.restart
  core.host {
    core.input(sig_en = 1, sig_units = 1, mask = 1)
    core.addreg(index = 1, imm = 2)
    core.input(dst = 8, dst_reg = 1, dst_ring = 3, mask = 1)
    core.restart
  }
}
