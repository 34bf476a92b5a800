// SLUICE_ASSERT: checked at every clock edge in simulation with --assert, a goal of
// the proofs (yosys read_verilog -formal), nothing in synthesis.
// SLUICE_REQUIRE: what a module's parameters must fulfil; an error when it is
// elaborated, in every tool.
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

`define SLUICE_REQUIRE(Cond) \
  if (!(Cond)) $error("a parameter has a wrong value, it must be: Cond");

`endif
