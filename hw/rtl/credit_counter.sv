// Counts what is outstanding in a bounded buffer, in flight included: taken when
// an item is promised a place, given back when the item leaves the buffer.
`include "assert.svh"

module credit_counter #(
    parameter int unsigned Depth = 16
) (
    input  logic clk_i,
    input  logic rst_i,
    input  logic take_i,
    input  logic give_i,
    output logic free_o,   // fewer than Depth outstanding at the start of the cycle
    output logic idle_o    // none outstanding
);
  localparam int unsigned Bits = $clog2(Depth + 1);

  logic [Bits-1:0] count_q;

  assign free_o = count_q < Bits'(Depth);
  assign idle_o = count_q == '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) count_q <= '0;
    else if (take_i && !give_i) count_q <= count_q + 1'b1;
    else if (give_i && !take_i) count_q <= count_q - 1'b1;
  end

  `SLUICE_ASSERT(!(take_i && !free_o))
  `SLUICE_ASSERT(!(give_i && idle_o))
  `SLUICE_ASSERT({1'b0, count_q} <= (Bits + 1)'(Depth))
endmodule
