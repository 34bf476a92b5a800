// Processing element: Terms exact products, aligned to their largest anchor and
// summed as integers, plus the sum of the elements before it in the column.
// With x_i in cycle t, stage_i[k] is high in t+k for such a beat. read_i and block_i
// come in t-2. keep_i comes in t-1 and registers the word of the weight RAM in front of
// the multipliers. The group sum is registered in t+5 and its anchor is shown in t+4; a
// chained element adds the incoming sum (anchor in t+4, integer in t+5) and shows the
// result a cycle later (t+5, t+6).
`include "assert.svh"

module fdot_pe #(
    parameter int unsigned Terms     = 4,
    parameter int unsigned Blocks    = 64,
    parameter bit Chained            = 1'b0,
    localparam int unsigned AddrBits = $clog2(Blocks)
) (
    input  logic                        clk_i,
    input  logic                        read_i,
    input  logic                        keep_i,
    input  logic [AddrBits-1:0]         block_i,
    input  logic [5:0]                  stage_i,
    input  logic [Terms*16-1:0]         x_i,
    input  logic [Terms-1:0]            write_i,
    input  logic [AddrBits-1:0]         write_block_i,
    input  logic [Terms*16-1:0]         write_data_i,
    input  logic [5:0]                  chain_anchor_i,
    input  logic [isa_pkg::AccBits-1:0] chain_sum_i,
    output logic [5:0]                  anchor_o,
    output logic [isa_pkg::AccBits-1:0] sum_o
);
  `SLUICE_REQUIRE(Terms >= 4 && (Terms & (Terms - 1)) == 0)

  localparam int unsigned FieldBits = 23 + isa_pkg::FieldFraction;
  localparam int unsigned TermBits  = $clog2(Terms);
  localparam int unsigned SumBits   = FieldBits + 1 + TermBits;
  localparam int unsigned Pairs     = Terms / 2;
  localparam int unsigned Quads     = Terms / 4;

  // ---- weights and terms ------------------------------------------------------------
  logic [Terms*16-1:0] w, w_q, unused_watch;

  block_ram #(
      .Width   (Terms * 16),
      .Rows    (Blocks),
      .Parts   (Terms),
      .MeetsOld(1)
  ) u_weights (
      .clk_i,
      .write_i,
      .write_addr_i(write_block_i),
      .write_data_i,
      .read_i,
      .clear_i     (1'b0),
      .read_addr_i (block_i),
      .read_data_o (w),
      .watch_clk_i (1'b0),
      .watch_addr_i('0),
      .watch_data_o(unused_watch)
  );

  always_ff @(posedge clk_i) begin
    if (keep_i) w_q <= w;
  end

  // ---- stages 1 to 4 of the terms, in fours -----------------------------------------
  logic [Pairs*6-1:0] pair1_q;
  logic [5:0]         largest2_q;
  logic [Terms-1:0]   minus;
  logic [TermBits:0]  minuses3_q;

  for (genvar i = 0; i < Quads; i++) begin : gen_quad
    logic [SumBits-1:0] quad4_q, total;
    fdot_quad #(
        .SumBits  (SumBits),
        .CarryBits(TermBits + 1)
    ) u_quad (
        .clk_i,
        .stage_i  (stage_i[3:0]),
        .x_i      (x_i[i*64+:64]),
        .w_i      (w_q[i*64+:64]),
        .pairs_o  (pair1_q[i*12+:12]),
        .largest_i(largest2_q),
        .minus_o  (minus[i*4+:4]),
        .ones_i   (i == 0 ? minuses3_q : '0),
        .sum_o    (quad4_q)
    );
    if (i == 0) begin : gen_first
      assign total = quad4_q;
    end else begin : gen_next
      assign total = gen_quad[i-1].total + quad4_q;
    end
  end

  // ---- stage 2: the anchor that beats all others, each two compared once, all at the
  // same time; of equal ones the first ---------------------------------------------------
  always_ff @(posedge clk_i) begin
    logic             first;
    logic [Pairs-1:0] beaten;
    logic [5:0]       largest;
    if (stage_i[1]) begin
      beaten  = '0;
      largest = '0;
      for (int i = 0; i < Pairs; i++) begin
        for (int k = i + 1; k < Pairs; k++) begin
          first     = pair1_q[i*6+:6] >= pair1_q[k*6+:6];
          beaten[i] = beaten[i] | !first;
          beaten[k] = beaten[k] | first;
        end
      end
      for (int i = 0; i < Pairs; i++) largest |= beaten[i] ? '0 : pair1_q[i*6+:6];
      largest2_q <= largest;
    end
  end

  // ---- stages 3 to 5: what the one's complements lack, the sum of all fours ---------------
  logic [5:0]         anchor3_q, anchor4_q;
  logic [SumBits-1:0] group5_q;

  always_ff @(posedge clk_i) begin
    logic [TermBits:0] minuses;
    if (stage_i[2]) begin
      minuses = '0;
      for (int i = 0; i < Terms; i++) minuses = minuses + (TermBits + 1)'(minus[i]);
      minuses3_q <= minuses;
      anchor3_q  <= largest2_q;
    end
    if (stage_i[3]) anchor4_q <= anchor3_q;
    if (stage_i[4]) group5_q <= gen_quad[Quads-1].total;
  end

  // ---- chain ---------------------------------------------------------------------------
  if (Chained) begin : gen_chained
    logic [5:0] anchor, anchor5_q;
    logic [2:0] move_chain, move_group, move_chain5_q, move_group5_q;
    logic signed [isa_pkg::AccBits-1:0] chain_sum, group_sum, chain_moved, group_moved;
    logic [isa_pkg::AccBits-1:0]        sum6_q;

    anchor_add u_anchor (
        .left_i      (chain_anchor_i),
        .right_i     (anchor4_q),
        .anchor_o    (anchor),
        .move_left_o (move_chain),
        .move_right_o(move_group)
    );
    assign chain_sum   = chain_sum_i;
    assign group_sum   = isa_pkg::AccBits'(signed'(group5_q));
    assign chain_moved = chain_sum >>> {move_chain5_q, 3'b0};
    assign group_moved = group_sum >>> {move_group5_q, 3'b0};

    always_ff @(posedge clk_i) begin
      if (stage_i[4]) begin
        anchor5_q     <= anchor;
        move_chain5_q <= move_chain;
        move_group5_q <= move_group;
      end
      if (stage_i[5]) sum6_q <= chain_moved + group_moved;
    end
    assign anchor_o = anchor5_q;
    assign sum_o    = sum6_q;
  end else begin : gen_first
    assign anchor_o = anchor4_q;
    assign sum_o    = isa_pkg::AccBits'(signed'(group5_q));
    logic unused;
    assign unused = ^{stage_i[5], chain_anchor_i, chain_sum_i};
  end
endmodule
