// The counters of an instruction's four nested loops, index 0 outermost. Says for
// the current beat at which levels it is first and last, and which loop the step
// to the next beat advances. No multipliers. What it says of the current beat is at most
// one gate away from a register.
`include "assert.svh"

module loop_nest (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        move_i,   // load or step at the end of this cycle
    input  logic        load_i,   // with move_i: start the nest n_i, else next beat
    input  logic [47:0] n_i,      // four trip counts of 12 bits, loop 0 lowest
    output logic [4:0]  first_o,       // bit L: every loop at or inside L is at its first trip
    output logic [4:0]  last_o,        // bit L: ... at its last trip
    output logic [4:0]  next_first_o,  // the same of the beat that a move leads to
    output logic [4:0]  next_last_o,
    output logic [1:0]  step_o         // the loop that advances; loops inside it start again
);
  localparam int unsigned Depth = 4;

  logic [11:0]      n_q   [Depth];
  logic [11:0]      left_q[Depth];  // trips left after the current one
  logic [Depth-1:0] first_q, last_q, single_q;
  logic [Depth-1:0] first_d, last_d;
  logic [Depth-1:0] carry;  // every loop inside this one is at its last trip

  assign carry = {1'b1, last_q[3], &last_q[3:2], &last_q[3:1]};

  // The innermost loop has the highest index.
  function automatic logic [4:0] levels(input logic [Depth-1:0] loops);
    levels = {1'b1, loops[3], &loops[3:2], &loops[3:1], &loops};
  endfunction

  assign first_o      = levels(first_q);
  assign last_o       = levels(last_q);
  assign next_first_o = levels(first_d);
  assign next_last_o  = levels(last_d);
  assign step_o       = !last_q[3] ? 2'd3 : !last_q[2] ? 2'd2 : !last_q[1] ? 2'd1 : 2'd0;

  for (genvar l = 0; l < Depth; l++) begin : gen_loop
    logic [11:0] n;
    logic        one;
    assign n   = n_i[l*12+:12];
    assign one = n == 12'd1;
    assign first_d[l] = load_i || (carry[l] ? last_q[l] : first_q[l]);
    assign last_d[l]  = load_i ? one : !carry[l] ? last_q[l]
                      : last_q[l] ? single_q[l] : left_q[l] == 12'd1;

    always_ff @(posedge clk_i) begin
      if (move_i) begin
        if (load_i) begin
          n_q[l]      <= n;
          single_q[l] <= one;
          left_q[l]   <= n - 12'd1;
        end else if (carry[l]) begin
          // The outermost loop that is not done advances, the ones inside it restart.
          left_q[l] <= last_q[l] ? n_q[l] - 12'd1 : left_q[l] - 12'd1;
        end
        first_q[l] <= first_d[l];
        last_q[l]  <= last_d[l];
      end
    end
  end

  `SLUICE_ASSERT(!(move_i && !load_i && last_o[0]))
endmodule
