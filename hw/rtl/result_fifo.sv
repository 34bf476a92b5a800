// Matrix results on their way to the vector unit. What is pushed in cycle t can be
// read from t+1; the row of a read in t is at the output in t+1, registered, for the
// reader's operand register. A pop is a read that removes.
`include "assert.svh"

module result_fifo #(
    parameter int unsigned Width = 256,
    parameter int unsigned Depth = 32  // a power of two
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             push_i,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    input  logic             read_i,
    input  logic             pop_i,
    output logic [Width-1:0] data_o
);
  logic [$clog2(Depth)-1:0] wr, rd;
  logic                     full;  // for the assertion of its owner

  fifo_pointers #(
      .Depth(Depth)
  ) u_pointers (
      .clk_i, .rst_i, .push_i, .pop_i, .valid_o, .full_o(full), .wr_o(wr), .rd_o(rd)
  );

  queue_ram #(
      .Width(Width),
      .Rows (Depth)
  ) u_rows (
      .clk_i,
      .write_i     (push_i),
      .write_addr_i(wr),
      .write_data_i(data_i),
      .read_i,
      .read_addr_i (rd),
      .read_data_o (data_o)
  );

  `SLUICE_ASSERT(!(read_i && !valid_o))
  `SLUICE_ASSERT(!(pop_i && !read_i))
endmodule
