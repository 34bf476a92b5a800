// Maximum over the lanes and over the beats of a group, or the index of the first
// lane that holds it, in every lane. last_i marks the last beat of a group; the
// others deliver the result so far. A beat every cycle; all beats of a group want the same.
// Inputs in cycle t; max_o is registered in t + log2(Lanes) + vec_reduce_max and
// index_o, the index as fp32, one cycle later (vec_reduce_argmax).
// Indices count lanes, beat after beat of the group, modulo 2^24. With index_i zeros
// count as equal, else -0 is below +0.
`include "assert.svh"

module vec_order #(
    parameter int unsigned Lanes = 8
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic                index_i,  // the index is wanted, not the maximum
    input  logic                last_i,
    input  logic [Lanes*32-1:0] value_i,
    output logic                max_valid_o,
    output logic [31:0]         max_o,
    output logic                index_valid_o,
    output logic [31:0]         index_o
);
  `SLUICE_REQUIRE(Lanes >= 2 && (Lanes & (Lanes - 1)) == 0)

  localparam int unsigned Stages    = $clog2(Lanes);
  localparam int unsigned IndexBits = 24;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    localparam int unsigned Outputs = Lanes >> (s + 1);
    logic                        valid, last, index, valid_q, last_q, index_q;
    logic [Outputs*64-1:0]       values;
    logic [Outputs*2*Stages-1:0] lanes;  // index of the lane, s bits of it in use
    logic [Outputs*32-1:0]       max_q;
    logic [Outputs*Stages-1:0]   lane_q;

    if (s == 0) begin : gen_first
      assign valid  = valid_i;
      assign last   = last_i;
      assign index  = index_i;
      assign values = value_i;
      assign lanes  = '0;
    end else begin : gen_next
      assign valid  = gen_stage[s-1].valid_q;
      assign last   = gen_stage[s-1].last_q;
      assign index  = gen_stage[s-1].index_q;
      assign values = gen_stage[s-1].max_q;
      assign lanes  = gen_stage[s-1].lane_q;
    end

    always_ff @(posedge clk_i) begin
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= valid;
    end
    always_ff @(posedge clk_i) begin
      if (valid) begin
        last_q  <= last;
        index_q <= index;
      end
    end

    for (genvar i = 0; i < Outputs; i++) begin : gen_node
      logic [31:0]       max;
      logic              second;
      logic [Stages-1:0] lane;
      vec_max #(
          .Canonical(s != 0)
      ) u_max (
          .left_i    (values[i*64+:32]),
          .right_i   (values[i*64+32+:32]),
          .unsigned_i(index_i),
          .max_o     (max),
          .right_o   (second)
      );
      assign lane = (second ? lanes[(2*i+1)*Stages+:Stages] : lanes[2*i*Stages+:Stages]) |
                    (Stages'(second) << s);
      always_ff @(posedge clk_i) begin
        if (valid) begin
          max_q[i*32+:32]          <= max;
          lane_q[i*Stages+:Stages] <= lane;
        end
      end
    end
  end

  // ---- accumulation over beats ----------------------------------------------------
  logic                 row_valid, row_last, row_indexed, fresh_q, later, indexed_q;
  logic [31:0]          row_max, group_q, group;
  logic [IndexBits-1:0] row_index, beat_q, index_q;

  assign row_valid   = gen_stage[Stages-1].valid_q;
  assign row_last    = gen_stage[Stages-1].last_q;
  assign row_indexed = gen_stage[Stages-1].index_q;
  assign row_max     = gen_stage[Stages-1].max_q;
  assign row_index   = {fresh_q ? '0 : beat_q[IndexBits-Stages-1:0], gen_stage[Stages-1].lane_q};

  vec_max u_group (
      .left_i    (group_q),
      .right_i   (row_max),
      .unsigned_i(1'b0),
      .max_o     (group),
      .right_o   (later)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      max_valid_o <= 1'b0;
      indexed_q   <= 1'b0;
      fresh_q     <= 1'b1;  // the next beat starts a group
    end else begin
      max_valid_o <= row_valid && !row_indexed;
      indexed_q   <= row_valid && row_indexed;
      if (row_valid) fresh_q <= row_last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (row_valid) begin
      group_q <= fresh_q ? row_max : group;
      beat_q  <= fresh_q ? IndexBits'(1) : beat_q + 1'b1;
      if (fresh_q || later) index_q <= row_index;
    end
  end
  assign max_o = group_q;

  // ---- the index as fp32 ------------------------------------------------------------
  logic [7:0]  exponent;
  logic [22:0] mantissa;

  always_comb begin
    logic leading;
    exponent = '0;
    mantissa = '0;
    for (int k = 0; k < IndexBits; k++) begin
      leading = index_q[k] && (index_q >> (k + 1)) == '0;
      exponent |= leading ? 8'(127 + k) : '0;
      mantissa |= leading ? 23'(index_q << (23 - k)) : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) index_valid_o <= 1'b0;
    else index_valid_o <= indexed_q;
  end
  always_ff @(posedge clk_i) begin
    if (indexed_q) index_o <= {1'b0, exponent, mantissa};
  end
endmodule
