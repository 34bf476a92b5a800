// A loop nest with one address stream, as a unit uses them.
module loop_walk (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        move_i,
    input  logic        load_i,
    input  logic [47:0] n_i,
    input  logic [17:0] base_i,
    input  logic [71:0] stride_i,
    input  logic [3:0]  ring_i,
    output logic [4:0]  first_o,
    output logic [4:0]  last_o,
    output logic [4:0]  next_first_o,
    output logic [4:0]  next_last_o,
    output logic [17:0] address_o
);
  logic [1:0] loop;
  logic [4:0] step;  // a machine_pkg::step_t

  assign step = {move_i, move_i, load_i, loop};

  loop_nest u_nest (
      .clk_i, .rst_i, .move_i, .load_i, .n_i, .first_o, .last_o, .next_first_o, .next_last_o,
      .step_o(loop)
  );
  loop_address #(
      .Width(18),
      .Rings(1'b1)
  ) u_address (
      .clk_i, .step_i(step), .base_i, .stride_i, .ring_i, .address_o
  );
endmodule
