// Four terms of a processing element: exact bf16 products, aligned to the group's
// anchor and given their signs as one's complements, and their sum; the PE adds the
// missing ones. Stage k works in cycle t+k-1 and its registers are seen in t+k;
// stage_i[k-1] enables it.
module fdot_quad #(
    parameter int unsigned SumBits   = 37,
    parameter int unsigned CarryBits = 3,
    localparam int unsigned FieldBits = 23 + isa_pkg::FieldFraction
) (
    input  logic                 clk_i,
    input  logic [3:0]           stage_i,
    input  logic [63:0]          x_i,       // t
    input  logic [63:0]          w_i,       // t
    output logic [11:0]          pairs_o,   // t+1: the larger anchor of each two terms
    input  logic [5:0]           largest_i, // t+2: the group's anchor
    output logic [3:0]           minus_o,   // t+2: of these terms one is missing
    input  logic [CarryBits-1:0] ones_i,    // t+3: to be added
    output logic [SumBits-1:0]   sum_o      // t+4
);
  for (genvar p = 0; p < 2; p++) begin : gen_pair
    // ---- stage 1: multiply, add exponents, compare the anchors of two terms --------
    logic        zero_l_q, zero_h_q, minus_l_q, minus_h_q;
    logic [2:0]  r_l_q, r_h_q;
    logic [5:0]  q_l_q, q_h_q;
    logic [15:0] product_l_q, product_h_q;

    multiplier #(
        .Width(8)
    ) u_product_l (
        .clk_i,
        .enable_i (stage_i[0]),
        .left_i   ({1'b1, x_i[p*32+:7]}),
        .right_i  ({1'b1, w_i[p*32+:7]}),
        .product_o(product_l_q)
    );
    multiplier #(
        .Width(8)
    ) u_product_h (
        .clk_i,
        .enable_i (stage_i[0]),
        .left_i   ({1'b1, x_i[p*32+16+:7]}),
        .right_i  ({1'b1, w_i[p*32+16+:7]}),
        .product_o(product_h_q)
    );

    always_ff @(posedge clk_i) begin
      logic       zero_l, zero_h;
      logic [8:0] es_l, es_h;
      logic [5:0] q_l, q_h;
      if (stage_i[0]) begin
        zero_l = x_i[p*32+7+:8] == '0 || w_i[p*32+7+:8] == '0;
        zero_h = x_i[p*32+23+:8] == '0 || w_i[p*32+23+:8] == '0;
        es_l   = {1'b0, x_i[p*32+7+:8]} + {1'b0, w_i[p*32+7+:8]};
        es_h   = {1'b0, x_i[p*32+23+:8]} + {1'b0, w_i[p*32+23+:8]};
        q_l    = zero_l ? '0 : es_l[8:3];
        q_h    = zero_h ? '0 : es_h[8:3];
        zero_l_q    <= zero_l;
        zero_h_q    <= zero_h;
        minus_l_q   <= x_i[p*32+15] ^ w_i[p*32+15];
        minus_h_q   <= x_i[p*32+31] ^ w_i[p*32+31];
        r_l_q       <= es_l[2:0];
        r_h_q       <= es_h[2:0];
        q_l_q       <= q_l;
        q_h_q       <= q_h;
        pairs_o[p*6+:6] <= q_l > q_h ? q_l : q_h;
      end
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_term
    logic        zero1_q, minus1_q;
    logic [2:0]  r1_q;
    logic [5:0]  q1_q;
    logic [15:0] product1_q;

    if (i % 2 == 0) begin : gen_low
      assign zero1_q    = gen_pair[i/2].zero_l_q;
      assign minus1_q   = gen_pair[i/2].minus_l_q;
      assign r1_q       = gen_pair[i/2].r_l_q;
      assign q1_q       = gen_pair[i/2].q_l_q;
      assign product1_q = gen_pair[i/2].product_l_q;
    end else begin : gen_high
      assign zero1_q    = gen_pair[i/2].zero_h_q;
      assign minus1_q   = gen_pair[i/2].minus_h_q;
      assign r1_q       = gen_pair[i/2].r_h_q;
      assign q1_q       = gen_pair[i/2].q_h_q;
      assign product1_q = gen_pair[i/2].product_h_q;
    end

    // ---- stage 2: shift below the anchor's step (the PE finds the largest anchor) ----
    logic [22:0] product2_q;
    logic [5:0]  q2_q;
    logic        minus2_q;

    always_ff @(posedge clk_i) begin
      if (stage_i[1]) begin
        product2_q <= zero1_q ? '0 : {7'b0, product1_q} << r1_q;
        q2_q       <= q1_q;
        minus2_q   <= minus1_q;
      end
    end
    assign minus_o[i] = minus2_q;

    // ---- stage 3: align by whole bytes -----------------------------------------------
    logic [FieldBits:0] field3_q;

    always_ff @(posedge clk_i) begin
      logic [5:0]           down;
      logic [FieldBits-1:0] aligned;
      if (stage_i[2]) begin
        down     = largest_i - q2_q;
        aligned  = {product2_q, {isa_pkg::FieldFraction{1'b0}}} >> {down[2:0], 3'b0};
        if (down > 6'd4) aligned = '0;
        field3_q <= {1'b0, aligned} ^ {(FieldBits + 1) {minus2_q}};
      end
    end
  end

  // ---- stage 4 -------------------------------------------------------------------------
  always_ff @(posedge clk_i) begin
    if (stage_i[3]) begin
      sum_o <= SumBits'(signed'(gen_term[0].field3_q)) + SumBits'(signed'(gen_term[1].field3_q)) +
               SumBits'(signed'(gen_term[2].field3_q)) + SumBits'(signed'(gen_term[3].field3_q)) +
               SumBits'(ones_i);
    end
  end
endmodule
