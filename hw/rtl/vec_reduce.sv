// A reduction over the lanes and over the beats of a group, its result in every
// lane: maximum, sum, or index of the maximum (see vec_order and vec_sum).
// Inputs in cycle t, value_o and valid_o registered in t + the latency of kind_i,
// which does not change while a beat is inside.
module vec_reduce #(
    parameter int unsigned Lanes = 8
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [1:0]          kind_i,  // isa_pkg::Reduce codes
    input  logic                valid_i,
    input  logic                last_i,
    input  logic [Lanes*32-1:0] value_i,
    output logic                valid_o,
    output logic [Lanes*32-1:0] value_o
);
  logic        is_sum, is_index, max_valid, index_valid, sum_valid;
  logic [31:0] max, index, sum;

  assign is_sum   = {1'b0, kind_i} == isa_pkg::ReduceSum;
  assign is_index = {1'b0, kind_i} == isa_pkg::ReduceArgmax;

  vec_order #(
      .Lanes(Lanes)
  ) u_order (
      .clk_i,
      .rst_i,
      .valid_i      (valid_i && !is_sum),
      .index_i      (is_index),
      .last_i,
      .value_i,
      .max_valid_o  (max_valid),
      .max_o        (max),
      .index_valid_o(index_valid),
      .index_o      (index)
  );

  vec_sum #(
      .Lanes(Lanes)
  ) u_sum (
      .clk_i,
      .rst_i,
      .valid_i(valid_i && is_sum),
      .last_i,
      .value_i,
      .valid_o(sum_valid),
      .value_o(sum)
  );

  assign valid_o = is_sum ? sum_valid : is_index ? index_valid : max_valid;
  assign value_o = {Lanes{is_sum ? sum : is_index ? index : max}};
endmodule
