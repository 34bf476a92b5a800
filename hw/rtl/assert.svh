// Assertions: checked at every clock edge in simulation with --assert, goals
// of the proofs (yosys read_verilog -formal), nothing in synthesis.
`ifndef SLUICE_ASSERT_SVH
`define SLUICE_ASSERT_SVH

`ifdef YOSYS
`ifdef FORMAL
`define SLUICE_ASSERT(Cond) \
  always_comb if (!rst_i) assert (Cond);
`else
`define SLUICE_ASSERT(Cond)
`endif
`else
`define SLUICE_ASSERT(Cond) \
  always_ff @(posedge clk_i) if (!rst_i) assert (Cond) else $error("assertion failed in %m: Cond");
`endif

`endif
