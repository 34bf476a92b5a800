// Maximum over the lanes and over the beats of a group; the result is in every
// lane. last_i marks the last beat of a group; the others deliver the maximum so
// far. A beat every cycle.
// Inputs in cycle t, value_o and valid_o in t + log2(Lanes) + vec_reduce_base,
// registered: a tree of log2(Lanes) stages and the accumulation over beats.
module vec_reduce #(
    parameter int unsigned Lanes = 8
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic                last_i,
    input  logic [Lanes*32-1:0] value_i,
    output logic                valid_o,
    output logic [Lanes*32-1:0] value_o
);
  localparam int unsigned Stages = $clog2(Lanes);

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    localparam int unsigned Outputs = Lanes >> (s + 1);
    logic                  valid, last, valid_q, last_q;
    logic [Outputs*64-1:0] values;
    logic [Outputs*32-1:0] max_q;

    if (s == 0) begin : gen_first
      assign valid  = valid_i;
      assign last   = last_i;
      assign values = value_i;
    end else begin : gen_next
      assign valid  = gen_stage[s-1].valid_q;
      assign last   = gen_stage[s-1].last_q;
      assign values = gen_stage[s-1].max_q;
    end

    always_ff @(posedge clk_i) begin
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= valid;
    end
    always_ff @(posedge clk_i) begin
      if (valid) last_q <= last;
    end

    for (genvar i = 0; i < Outputs; i++) begin : gen_node
      logic [31:0] max;
      vec_max #(
          .Canonical(s != 0)
      ) u_max (
          .left_i (values[i*64+:32]),
          .right_i(values[i*64+32+:32]),
          .max_o  (max)
      );
      always_ff @(posedge clk_i) begin
        if (valid) max_q[i*32+:32] <= max;
      end
    end
  end

  logic        fresh_q;  // the next beat starts a group
  logic [31:0] group_q, group;

  vec_max u_group (
      .left_i (gen_stage[Stages-1].max_q),
      .right_i(group_q),
      .max_o  (group)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_o <= 1'b0;
      fresh_q <= 1'b1;
    end else begin
      valid_o <= gen_stage[Stages-1].valid_q;
      if (gen_stage[Stages-1].valid_q) fresh_q <= gen_stage[Stages-1].last_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (gen_stage[Stages-1].valid_q) group_q <= fresh_q ? gen_stage[Stages-1].max_q : group;
  end

  assign value_o = {Lanes{group_q}};
endmodule
