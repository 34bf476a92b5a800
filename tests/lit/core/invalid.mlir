// One test per message of the verifiers.
// RUN: sluice-opt %s --split-input-file --verify-diagnostics

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{'core.mm' op field x is 70000, allowed: 0 to 65535}}
    core.mm(x = 70000)
    core.halt
  }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{'core.mm' op field x_stride is 40000, allowed: -32768 to 32767}}
    core.mm(x_stride = [0, 0, 0, 40000])
    core.halt
  }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{'core.mm' op field n has 2 values, allowed: 4}}
    core.mm(n = [1, 1])
    core.halt
  }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{'divide' is not a value of alu}}
    core.vec(alu1 = divide)
    core.halt
  }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{vec has no field speed}}
    core.vec(speed = 3)
    core.halt
  }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    // expected-error @+1 {{field a is given twice}}
    core.vec(a = 3, a = 4)
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op core 0 instruction 0: w reaches weight block 16, allowed: 0 to 15}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    core.mm(w = 16)
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op core 0 instruction 0: x reaches tensor row 8, allowed: 0 to 7, 32768 to 32771}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    core.mm(n = [1, 1, 1, 9], x_stride = [0, 0, 0, 1])
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op core 0 instruction 0: mask is 4, allowed: cores 0 to 0 and the host (bit 8), at least one}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    core.vec(dst_kind = net, mask = 4)
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op core 0 instruction 0: dst reaches host output row 1, allowed: 0 to 0}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    core.vec(dst_kind = net, mask = 256, dst = 1)
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op core 0 instruction}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 {
    core.loop(count = 2)
    core.halt
  }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op geometry has no clock_mhz}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4} output_rows 1 {
  core.core 0 { core.halt }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op net_hop is 9, allowed: 2 to 6}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, net_hop = 9, clock_mhz = 300} output_rows 1 {
  core.core 0 { core.halt }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op geometry has an unknown field}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, chairs = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 { core.halt }
core.host { core.halt }
}

// -----

// expected-error @+1 {{'core.program' op has 0 cores and 1 host ports, expected 1 and 1}}
core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {

core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  // expected-error @+1 {{'core.core' op is number 1, expected 0}}
  core.core 1 { core.halt }
core.host { core.halt }
}

// -----

core.program "one" geometry {
    rtl = "c2b8", cores = 1, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 8,
    local_rows = 4, accumulators = 4, preload_rows = 4, instructions = 8,
    host_instructions = 4, tables = 4, clock_mhz = 300} output_rows 1 {
  core.core 0 { core.halt }
  core.host { core.halt }
  // expected-error @+1 {{is misplaced; core.program has one core.core per core}}
  core.host { core.halt }
}
