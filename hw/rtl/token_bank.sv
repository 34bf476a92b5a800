// The token counters of one unit. Up to Gives signals arrive in a cycle and one
// wait is served; both count in the same cycle.
`include "assert.svh"

module token_bank #(
    parameter int unsigned Gives = 3
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [Gives-1:0]   give_i,
    input  logic [Gives*5-1:0] give_token_i,
    input  logic [4:0]         token_i,   // the token waited for
    input  logic [7:0]         need_i,    // how many
    output logic               enough_o,  // they are there
    input  logic               take_i,    // take them
    output logic [7:0]         have_o,
    output logic               fault_o    // a counter has passed its maximum since reset
);
  `SLUICE_REQUIRE(Gives <= 3)

  // Nine bits: the ninth says that the counter has passed token_max.
  logic [isa_pkg::Tokens*9-1:0] count_q, plus, minus;
  logic [isa_pkg::Tokens-1:0]   reaches, passed, selected;
  logic [isa_pkg::Tokens*8-1:0] counts;  // the lower eight bits
  logic                fault_q;

  assign have_o   = counts[{token_i, 3'b0}+:8];
  assign enough_o = reaches[token_i];
  assign fault_o  = fault_q || passed != '0;

  // Every counter is compared, and both its possible successors are made, before
  // it is known whether the wait is served: that decision only selects.
  for (genvar i = 0; i < isa_pkg::Tokens; i++) begin : gen_token
    logic [Gives-1:0] hit;
    logic [1:0]       gives;

    for (genvar g = 0; g < Gives; g++) begin : gen_hit
      assign hit[g] = give_i[g] && give_token_i[g*5+:5] == 5'(i);
    end
    always_comb begin
      gives = '0;
      for (int g = 0; g < Gives; g++) gives = gives + {1'b0, hit[g]};
    end

    assign counts[i*8+:8] = count_q[i*9+:8];
    assign selected[i]    = token_i == 5'(i);
    assign reaches[i]     = count_q[i*9+:8] >= need_i;
    assign passed[i]      = count_q[i*9+8];
    assign plus[i*9+:9]   = {1'b0, count_q[i*9+:8]} + {7'b0, gives};
    assign minus[i*9+:9]  = {1'b0, count_q[i*9+:8] - need_i} + {7'b0, gives};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      count_q <= '0;
      fault_q <= 1'b0;
    end else if (give_i != '0 || take_i) begin
      for (int i = 0; i < isa_pkg::Tokens; i++) begin
        count_q[i*9+:9] <= (take_i && selected[i]) ? minus[i*9+:9] : plus[i*9+:9];
      end
      fault_q <= fault_o;
    end
  end

  `SLUICE_ASSERT(!(take_i && !enough_o))
endmodule
