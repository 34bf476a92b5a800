// A stream keeps what it offers until it is taken. Nothing but the assertion.
`include "assert.svh"

module stream_check #(
    parameter int unsigned Width = 8
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             valid_i,
    input logic             ready_i,
    input logic [Width-1:0] data_i
);
  logic             stalled_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk_i) begin
    stalled_q <= !rst_i && valid_i && !ready_i;
    if (valid_i) data_q <= data_i;
  end

  `SLUICE_ASSERT(!stalled_q || (valid_i && data_i == data_q))
endmodule
