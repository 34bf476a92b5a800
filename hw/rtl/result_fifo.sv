// Matrix results on their way to the vector unit. What is pushed in cycle t can be
// read from t+1; the row of a read in t is at the output in t+1 (the read address is
// registered), for the reader's output register. A pop is a read that removes.
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
  localparam int unsigned PtrBits = $clog2(Depth);

  logic [Width-1:0]   mem[Depth];
  logic [PtrBits:0]   wr_q, rd_q;
  logic [PtrBits-1:0] addr_q;

  assign valid_o = wr_q != rd_q;
  assign data_o  = mem[addr_q];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (push_i) wr_q <= wr_q + 1'b1;
      if (pop_i) rd_q <= rd_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) mem[wr_q[PtrBits-1:0]] <= data_i;
    if (read_i) addr_q <= rd_q[PtrBits-1:0];
  end

  `SLUICE_ASSERT(!(push_i && wr_q == {~rd_q[PtrBits], rd_q[PtrBits-1:0]}))
  `SLUICE_ASSERT(!(read_i && !valid_o))
  `SLUICE_ASSERT(!(pop_i && !read_i))
endmodule
