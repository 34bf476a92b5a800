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
  logic [$clog2(Depth)-1:0] wr, rd;

  fifo_pointers #(
      .Depth(Depth)
  ) u_pointers (
      .clk_i, .rst_i, .push_i, .pop_i, .valid_o, .full_o, .wr_o(wr), .rd_o(rd)
  );

  lut_ram #(
      .Width(Width),
      .Rows (Depth)
  ) u_items (
      .clk_i,
      .read_addr_i (rd),
      .read_data_o (head_o),
      .write_i,
      .write_addr_i(wr),
      .write_data_i(data_i)
  );

  stream_check #(
      .Width(Width)
  ) u_check (
      .clk_i, .rst_i, .valid_i(valid_o), .ready_i(pop_i), .data_i(head_o)
  );

  `SLUICE_ASSERT(!(write_i && !push_i && full_o))
  `SLUICE_ASSERT(!(push_i && !write_i))
endmodule
