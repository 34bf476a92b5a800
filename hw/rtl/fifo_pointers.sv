// The two ends of a first-in first-out queue whose memory is the parent's: write
// at wr_o when pushing, read at rd_o. What is pushed in cycle t can be seen and
// popped from t+1.
`include "assert.svh"

module fifo_pointers #(
    parameter int unsigned Depth = 4,  // a power of two
    localparam int unsigned PtrBits = $clog2(Depth)
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               push_i,
    input  logic               pop_i,
    output logic               valid_o,
    output logic               full_o,
    output logic [PtrBits-1:0] wr_o,
    output logic [PtrBits-1:0] rd_o
);
  `SLUICE_REQUIRE(Depth >= 2 && (Depth & (Depth - 1)) == 0)

  // One bit more than an address: equal is empty, equal but for the top bit is full.
  logic [PtrBits:0] wr_q, rd_q;

  assign valid_o = wr_q != rd_q;
  assign full_o  = wr_q == {~rd_q[PtrBits], rd_q[PtrBits-1:0]};
  assign wr_o    = wr_q[PtrBits-1:0];
  assign rd_o    = rd_q[PtrBits-1:0];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (push_i) wr_q <= wr_q + 1'b1;
      if (pop_i) rd_q <= rd_q + 1'b1;
    end
  end

  `SLUICE_ASSERT(!(push_i && full_o))
  `SLUICE_ASSERT(!(pop_i && !valid_o))
endmodule
