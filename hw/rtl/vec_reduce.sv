// A reduction over the lanes and over the beats of a group, its result for every
// lane: maximum, sum, or index of the maximum (see vec_order and vec_sum).
// Inputs in cycle t, outputs registered in t + the latency of the beat's kind. Beats of
// several kinds may be inside; groups do not mix. A beat of one kind may leave for the second
// arithmetic unit in the cycle in which one of another kind leaves for the output.
`include "assert.svh"

module vec_reduce #(
    parameter int unsigned Lanes = 8
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  machine_pkg::way_t   way_i,         // its kind, and what is behind the reduction
    input  logic [Lanes*32-1:0] value_i,
    output logic                alu2_valid_o,  // to the second arithmetic unit
    output logic [31:0]         alu2_value_o,
    output logic                out_valid_o,   // to the output
    output logic [31:0]         out_value_o
);
  localparam int unsigned Levels      = $clog2(Lanes);
  localparam int unsigned MaxStages   = Levels + isa_pkg::VecReduceMax;
  localparam int unsigned IndexStages = Levels + isa_pkg::VecReduceArgmax;
  localparam int unsigned SumStages   = (Levels + 1) / 2 + isa_pkg::VecReduceSum;

  logic        sums, indexes, max_valid, index_valid, sum_valid;
  logic [31:0] max, index, sum;

  assign sums    = {1'b0, way_i.reduce} == isa_pkg::ReduceSum;
  assign indexes = {1'b0, way_i.reduce} == isa_pkg::ReduceArgmax;

  vec_order #(
      .Lanes(Lanes)
  ) u_order (
      .clk_i,
      .rst_i,
      .valid_i      (valid_i && !sums),
      .index_i      (indexes),
      .last_i       (way_i.last),
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
      .valid_i(valid_i && sums),
      .last_i (way_i.last),
      .value_i,
      .valid_o(sum_valid),
      .value_o(sum)
  );

  // ---- where the beats go: {second arithmetic unit, output} of each stage ------------
  logic [1:0]               next;
  logic [2*MaxStages-1:0]   max_next_q;
  logic [2*IndexStages-1:0] index_next_q;
  logic [2*SumStages-1:0]   sum_next_q;
  logic                     max_alu2, max_out, index_alu2, index_out, sum_alu2, sum_out;

  assign next = {way_i.alu2, !way_i.alu2} & {2{valid_i}};
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      max_next_q   <= '0;
      index_next_q <= '0;
      sum_next_q   <= '0;
    end else begin
      max_next_q   <= {max_next_q[2*MaxStages-3:0], next & {2{!sums && !indexes}}};
      index_next_q <= {index_next_q[2*IndexStages-3:0], next & {2{indexes}}};
      sum_next_q   <= {sum_next_q[2*SumStages-3:0], next & {2{sums}}};
    end
  end
  assign {max_alu2, max_out}     = max_next_q[2*MaxStages-1-:2];
  assign {index_alu2, index_out} = index_next_q[2*IndexStages-1-:2];
  assign {sum_alu2, sum_out}     = sum_next_q[2*SumStages-1-:2];

  assign alu2_valid_o = max_alu2 || index_alu2 || sum_alu2;
  assign alu2_value_o = sum_alu2 ? sum : index_alu2 ? index : max;
  assign out_valid_o  = max_out || index_out || sum_out;
  assign out_value_o  = sum_out ? sum : index_out ? index : max;

  `SLUICE_ASSERT(max_valid == (max_alu2 || max_out))
  `SLUICE_ASSERT(index_valid == (index_alu2 || index_out))
  `SLUICE_ASSERT(sum_valid == (sum_alu2 || sum_out))
endmodule
