// The matrix unit's promise: a result issued while fewer than Depth are outstanding
// finds room in the FIFO when it leaves the pipeline, Delay cycles later.
`include "assert.svh"

module result_credits #(
    parameter int unsigned Depth = 4,
    parameter int unsigned Delay = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic issue_i,
    input logic take_i
);
  logic             free, idle, valid, full;
  logic [Delay-1:0] pipe_q;
  logic [1:0]       at_wr, at_rd;

  credit_counter #(
      .Depth(Depth)
  ) u_credits (
      .clk_i, .rst_i, .take_i(issue_i && free), .give_i(take_i && valid), .free_o(free), .idle_o(idle)
  );
  fifo_pointers #(
      .Depth(Depth)
  ) u_results (
      .clk_i, .rst_i, .push_i(pipe_q[Delay-1]), .pop_i(take_i && valid), .valid_o(valid),
      .full_o(full), .wr_o(at_wr), .rd_o(at_rd)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) pipe_q <= '0;
    else pipe_q <= {pipe_q[Delay-2:0], issue_i && free};
  end
endmodule
