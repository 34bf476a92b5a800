// Sum over the lanes and over the beats of a group, fp32. last_i marks the last beat
// of a group; the others deliver the sum so far. A beat every cycle.
// Inputs in cycle t, value_o and valid_o in t + vec_reduce_sum + Levels, registered.
//
// Like the matrix unit: terms aligned by whole bytes to the largest anchor of the
// row, added as integers, four at a time; rows added to the group's anchored integer;
// one rounding at the end. Infinities and NaN travel beside the integer.
`include "assert.svh"

module vec_sum #(
    parameter int unsigned Lanes   = 8,
    localparam int unsigned Levels = ($clog2(Lanes) + 1) / 2
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic                last_i,
    input  logic [Lanes*32-1:0] value_i,
    output logic                valid_o,
    output logic [31:0]         value_o
);
  `SLUICE_REQUIRE(Lanes >= 4 && (Lanes & (Lanes - 1)) == 0)

  localparam int unsigned FieldBits = 31 + isa_pkg::SumFraction;
  localparam int unsigned SumBits   = FieldBits + 1 + $clog2(Lanes);
  localparam int unsigned CountBits = $clog2(Lanes) + 1;
  localparam int unsigned Quads     = Lanes / 4;
  localparam int unsigned Added     = 3 + Levels;  // the row's sum is registered

  // What travels beside the integers: entry k is seen in t+k.
  logic       valid_q[1:Added+1], last_q[1:Added-1];
  logic [1:0] special, special_q[1:Added];  // saw +infinity or NaN, -infinity or NaN
  logic [4:0] largest, anchor_q[3:Added-1];

  always_ff @(posedge clk_i) begin
    valid_q[1] <= !rst_i && valid_i;
    for (int k = 2; k <= Added + 1; k++) valid_q[k] <= !rst_i && valid_q[k-1];
  end
  always_ff @(posedge clk_i) begin
    last_q[1]    <= last_i;
    special_q[1] <= special;
    for (int k = 2; k < Added; k++) last_q[k] <= last_q[k-1];
    for (int k = 2; k <= Added; k++) special_q[k] <= special_q[k-1];
    anchor_q[3]  <= gen_quad[0].anchor2_q;
    for (int k = 4; k < Added; k++) anchor_q[k] <= anchor_q[k-1];
  end

  // ---- terms --------------------------------------------------------------------------
  logic [Lanes-1:0]   plus_special, minus_special, minus;
  logic [Quads*31-1:0] quad1_q;
  logic [Lanes*(FieldBits+1)-1:0] field3_q;

  for (genvar i = 0; i < Lanes; i++) begin : gen_term
    // Stage 1: take apart. Stage 2: shift below the anchor's step.
    logic [31:0] x;
    logic        is_nan, is_special, minus1_q, minus2_q;
    logic [23:0] sig1_q;
    logic [2:0]  r1_q;
    logic [4:0]  q1_q, q2_q;
    logic [30:0] shifted2_q;

    assign x                = value_i[i*32+:32];
    assign is_special       = x[30:23] == '1;
    assign is_nan           = is_special && x[22:0] != '0;
    assign plus_special[i]  = is_special && (!x[31] || is_nan);
    assign minus_special[i] = is_special && (x[31] || is_nan);
    assign minus[i]         = minus2_q;

    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        sig1_q   <= x[30:23] == '0 ? '0 : {1'b1, x[22:0]};
        r1_q     <= x[25:23];
        q1_q     <= x[30:26];
        minus1_q <= x[31];
      end
      if (valid_q[1]) begin
        shifted2_q <= {7'b0, sig1_q} << r1_q;
        q2_q       <= q1_q;
        minus2_q   <= minus1_q;
      end
    end

    // Stage 3: align by whole bytes; the sign as a one's complement, whose missing
    // ones are counted.
    logic [4:0]           down;
    logic [FieldBits-1:0] padded, aligned;

    assign down   = gen_quad[i/4].anchor2_q - q2_q;
    assign padded = {shifted2_q, {isa_pkg::SumFraction{1'b0}}};
    always_comb begin
      unique case (down)
        5'd0:    aligned = padded;
        5'd1:    aligned = padded >> 8;
        5'd2:    aligned = padded >> 16;
        5'd3:    aligned = padded >> 24;
        5'd4:    aligned = padded >> 32;
        default: aligned = '0;
      endcase
    end
    always_ff @(posedge clk_i) begin
      if (valid_q[2])
        field3_q[i*(FieldBits+1)+:FieldBits+1] <= {1'b0, aligned} ^ {(FieldBits + 1) {minus2_q}};
    end
  end
  assign special = {|minus_special, |plus_special};

  // ---- the largest anchor, as those from 1 on that it is not below: of four in stage 1, of
  // all in stage 2 -----------------------------------------------------------------------
  for (genvar i = 0; i < Quads; i++) begin : gen_quad
    logic [31:1] reached;
    always_comb begin
      reached = '0;
      for (int k = 0; k < 4; k++) begin
        for (int a = 1; a < 32; a++) begin
          reached[a] = reached[a] | (value_i[(4*i+k)*32+26+:5] >= 5'(a));
        end
      end
    end
    // The largest of all is in a register for every four terms, near them.
    (* keep *) logic [4:0] anchor2_q;
    always_ff @(posedge clk_i) begin
      if (valid_i) quad1_q[i*31+:31] <= reached;
      anchor2_q <= largest;
    end
  end
  // Bit b of the largest is set from an odd multiple of 2^b to the next multiple.
  always_comb begin
    logic [32:1] reached;
    reached = '0;
    for (int i = 0; i < Quads; i++) reached |= {1'b0, quad1_q[i*31+:31]};
    largest = '0;
    for (int b = 0; b < 5; b++) begin
      for (int a = 1 << b; a < 32; a += 2 << b) begin
        largest[b] = largest[b] | (reached[a] & !reached[a+(1<<b)]);
      end
    end
  end

  // ---- sums of four, level by level ------------------------------------------------------
  logic [CountBits-1:0] minuses, minuses3_q;

  always_comb begin
    minuses = '0;
    for (int i = 0; i < Lanes; i++) minuses = minuses + CountBits'(minus[i]);
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[2]) minuses3_q <= minuses;
  end

  for (genvar s = 0; s < Levels; s++) begin : gen_level
    localparam int unsigned Inputs  = (Lanes >> (2 * s)) > 1 ? Lanes >> (2 * s) : 2;
    localparam int unsigned Outputs = (Inputs + 3) / 4;
    logic [Outputs*4*SumBits-1:0] terms;
    logic [Outputs*SumBits-1:0]   sum_q;

    for (genvar i = 0; i < Outputs * 4; i++) begin : gen_input
      if (i >= Inputs) begin : gen_none
        assign terms[i*SumBits+:SumBits] = '0;
      end else if (s == 0) begin : gen_field
        assign terms[i*SumBits+:SumBits] =
            SumBits'(signed'(field3_q[i*(FieldBits+1)+:FieldBits+1]));
      end else begin : gen_sum
        assign terms[i*SumBits+:SumBits] = gen_level[s-1].sum_q[i*SumBits+:SumBits];
      end
    end
    for (genvar i = 0; i < Outputs; i++) begin : gen_output
      always_ff @(posedge clk_i) begin
        if (valid_q[3+s]) begin
          sum_q[i*SumBits+:SumBits] <= terms[4*i*SumBits+:SumBits] +
                                       terms[(4*i+1)*SumBits+:SumBits] +
                                       terms[(4*i+2)*SumBits+:SumBits] +
                                       terms[(4*i+3)*SumBits+:SumBits] +
                                       (s == 0 && i == 0 ? SumBits'(minuses3_q) : '0);
        end
      end
    end
  end

  // ---- accumulation over beats: anchors one cycle ahead of integers ----------------------
  logic       fresh_q, start_q;  // the row at the anchors, at the integers starts a group
  logic [5:0] group_anchor_q, total_anchor_q, anchor;
  logic [2:0] move_group, move_row, move_group_q, move_row_q;
  logic signed [isa_pkg::SumBits-1:0] row, total_q, group, total_moved, row_moved, total;
  logic [1:0] total_special_q;

  anchor_add u_anchor (
      .left_i      (fresh_q ? 6'd0 : group_anchor_q),
      .right_i     ({1'b0, anchor_q[Added-1]}),
      .anchor_o    (anchor),
      .move_left_o (move_group),
      .move_right_o(move_row)
  );
  assign row         = isa_pkg::SumBits'(signed'(gen_level[Levels-1].sum_q));
  assign group       = total_q >>> {move_group_q, 3'b0};
  assign total_moved = start_q ? '0 : group;
  assign row_moved   = row >>> {move_row_q, 3'b0};
  assign total       = total_moved + row_moved;

  always_ff @(posedge clk_i) begin
    if (rst_i) fresh_q <= 1'b1;
    else if (valid_q[Added-1]) fresh_q <= last_q[Added-1];
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[Added-1]) begin
      group_anchor_q <= anchor;
      move_group_q   <= move_group;
      move_row_q     <= move_row;
      start_q        <= fresh_q;
    end
    if (valid_q[Added]) begin
      total_q         <= total;
      total_special_q <= special_q[Added] | (start_q ? 2'b0 : total_special_q);
      total_anchor_q  <= group_anchor_q;
    end
  end

  // ---- rounding --------------------------------------------------------------------------
  logic        rounded_valid;
  logic [31:0] rounded;
  logic [1:0]  special2_q, special3_q;

  normalise #(
      .Lanes  (1),
      .AccBits(isa_pkg::SumBits),
      .Offset (isa_pkg::SumOffset),
      .Stages (3)
  ) u_normalise (
      .clk_i,
      .rst_i,
      .valid_i(valid_q[Added+1]),
      .fp32_i (1'b1),
      .low_i  (1'b0),
      .high_i (1'b0),
      .lane_i ({&total_special_q, total_anchor_q, total_q}),
      .valid_o(rounded_valid),
      .row_o  (rounded)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_o <= 1'b0;
    else valid_o <= rounded_valid;
  end
  always_ff @(posedge clk_i) begin
    special2_q <= total_special_q;
    special3_q <= special2_q;
    if (rounded_valid) begin
      value_o <= ^special3_q ? {special3_q[1], 8'hFF, 23'b0} : rounded;
    end
  end

  // The sum of two numbers of one sign has that sign, or it does not fit.
  `SLUICE_ASSERT(!valid_q[Added] || total_moved[isa_pkg::SumBits-1] != row_moved[isa_pkg::SumBits-1] ||
                 total[isa_pkg::SumBits-1] == row_moved[isa_pkg::SumBits-1])
endmodule
