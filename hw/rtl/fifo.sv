// First-in first-out queue. What is pushed in cycle t can be seen and popped
// from t+1; the head is read without a register.
`include "assert.svh"

module fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 4  // a power of two
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    input  logic                     push_i,
    input  logic [Width-1:0]         data_i,
    input  logic                     pop_i,
    output logic                     valid_o,
    output logic [Width-1:0]         head_o,
    output logic                     full_o
);
  localparam int unsigned PtrBits = $clog2(Depth);

  logic [Width-1:0] mem[Depth];
  // One bit more than an address: equal is empty, equal but for the top bit is full.
  logic [PtrBits:0] wr_q, rd_q;

  assign valid_o = wr_q != rd_q;
  assign full_o  = wr_q == {~rd_q[PtrBits], rd_q[PtrBits-1:0]};
  assign head_o  = mem[rd_q[PtrBits-1:0]];

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
  end

  `SLUICE_ASSERT(!(push_i && full_o))
  `SLUICE_ASSERT(!(pop_i && !valid_o))
endmodule
