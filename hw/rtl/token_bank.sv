// The token counters of one unit and the token that it waits for. Up to Gives signals
// arrive in a cycle and one wait is served; both count in the same cycle.
//
// The count of the token waited for has a register of its own, so that a wait needs
// one comparison of two registers.
`include "assert.svh"

module token_bank #(
    parameter int unsigned Gives = 3
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [Gives-1:0]   give_i,
    input  logic [Gives*5-1:0] give_token_i,
    input  logic               load_i,        // from the next cycle on, wait for load_token_i
    input  logic [4:0]         load_token_i,
    input  logic [4:0]         load_step_i,
    input  logic [4:0]         step_i,        // the step loaded last; a take adds it to the token
    input  logic [7:0]         need_i,        // signals that the wait needs
    output logic               enough_o,      // they are there
    input  logic               take_i,        // take them
    output logic [4:0]         token_o,       // the token waited for
    output logic [7:0]         have_o,
    output logic               fault_o        // a counter has passed its maximum since reset
);
  `SLUICE_REQUIRE(Gives <= 3)

  // Nine bits: the ninth says that the counter has passed token_max.
  logic [isa_pkg::Tokens*9-1:0] count_q, plus;
  logic [isa_pkg::Tokens*8-1:0] counts;  // the lower eight bits
  logic [isa_pkg::Tokens-1:0]   passed, selected;
  logic [4:0]                   token_q, stepped_q;  // the token now, and after a take
  logic [7:0]                   have_q;              // the count of token_q
  logic                         fault_q;

  // Returns the number of signals of a token.
  function automatic logic [1:0] gives_of(input logic [4:0] token, input logic [Gives-1:0] give,
                                          input logic [Gives*5-1:0] tokens);
    gives_of = '0;
    for (int g = 0; g < Gives; g++) begin
      gives_of = gives_of + {1'b0, give[g] && tokens[g*5+:5] == token};
    end
  endfunction

  assign have_o   = have_q;
  assign token_o  = token_q;
  assign enough_o = have_q >= need_i;
  assign fault_o  = fault_q || passed != '0;

  for (genvar i = 0; i < isa_pkg::Tokens; i++) begin : gen_token
    assign counts[i*8+:8] = count_q[i*9+:8];
    assign selected[i]    = token_q == 5'(i);
    assign passed[i]      = count_q[i*9+8];
    assign plus[i*9+:9]   = {1'b0, count_q[i*9+:8]} + {7'b0, gives_of(5'(i), give_i, give_token_i)};
  end

  // ---- the count of the token waited for ----------------------------------------------
  // The next count of every token that may be waited for next is computed before it is
  // known whether the wait is served: that decision only selects.
  logic [1:0] gives, step_gives, load_gives;
  logic [8:0] kept, taken;  // of token_q
  logic [7:0] after_step, after_load, if_taken, if_loaded;

  assign gives      = gives_of(token_q, give_i, give_token_i);
  assign step_gives = gives_of(stepped_q, give_i, give_token_i);
  assign load_gives = gives_of(load_token_i, give_i, give_token_i);
  assign kept       = {1'b0, have_q} + {7'b0, gives};
  assign taken      = {1'b0, have_q - need_i} + {7'b0, gives};
  assign after_step = counts[{stepped_q, 3'b0}+:8] + {6'b0, step_gives};
  assign after_load = counts[{load_token_i, 3'b0}+:8] + {6'b0, load_gives};
  assign if_taken   = stepped_q == token_q ? taken[7:0] : after_step;
  assign if_loaded  = take_i && load_token_i == token_q ? taken[7:0] : after_load;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      token_q   <= load_token_i;
      stepped_q <= load_token_i + load_step_i;
    end else if (take_i) begin
      token_q   <= stepped_q;
      stepped_q <= stepped_q + step_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      count_q <= '0;
      have_q  <= '0;
      fault_q <= 1'b0;
    end else if (give_i != '0 || take_i || load_i) begin
      for (int i = 0; i < isa_pkg::Tokens; i++) begin
        count_q[i*9+:9] <= (take_i && selected[i]) ? taken : plus[i*9+:9];
      end
      have_q  <= load_i ? if_loaded : take_i ? if_taken : kept[7:0];
      fault_q <= fault_o;
    end
  end

  `SLUICE_ASSERT(!(take_i && !enough_o))
endmodule
