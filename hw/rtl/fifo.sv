// First-in first-out queue. What is pushed in cycle t can be seen and popped
// from t+1; the head is read without a register. write_i writes data_i to the place of
// the next item, so that it need not wait for the decision to push.
`include "assert.svh"

module fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 4  // a power of two
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             push_i,
    input  logic             write_i,  // with every push, and at will where it is not full
    input  logic [Width-1:0] data_i,
    input  logic             pop_i,
    output logic             valid_o,
    output logic [Width-1:0] head_o,
    output logic             full_o
);
  logic [Width-1:0]         mem[Depth];
  logic [$clog2(Depth)-1:0] wr, rd;

  fifo_pointers #(
      .Depth(Depth)
  ) u_pointers (
      .clk_i, .rst_i, .push_i, .pop_i, .valid_o, .full_o, .wr_o(wr), .rd_o(rd)
  );

  always_ff @(posedge clk_i) begin
    if (write_i) mem[wr] <= data_i;
  end
  assign head_o = mem[rd];

  stream_check #(
      .Width(Width)
  ) u_check (
      .clk_i, .rst_i, .valid_i(valid_o), .ready_i(pop_i), .data_i(head_o)
  );

  `SLUICE_ASSERT(!(write_i && !push_i && full_o))
  `SLUICE_ASSERT(!(push_i && !write_i))
endmodule
