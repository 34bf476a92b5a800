// One term of a processing element: exact bf16 product, aligned to the group's
// anchor and given its sign as a one's complement; the PE adds the missing ones.
// Stage k works in cycle t+k-1 and its registers are seen in t+k; stage_i[k-1]
// enables it.
module fdot_term #(
    localparam int unsigned FieldBits = 23 + isa_pkg::FieldFraction
) (
    input  logic                 clk_i,
    input  logic [2:0]           stage_i,
    input  logic [15:0]          x_i,       // t
    input  logic [15:0]          w_i,       // t
    output logic [5:0]           anchor_o,  // t, combinational
    input  logic [5:0]           largest_i, // t+2: the group's anchor
    output logic                 minus_o,   // t+2: one is missing
    output logic [FieldBits:0]   field_o    // t+3
);
  // ---- stage 1: multiply, add exponents ------------------------------------------
  logic        zero, zero1_q, minus1_q;
  logic [8:0]  es;
  logic [15:0] product1_q;
  logic [2:0]  r1_q;
  logic [5:0]  q1_q;

  assign zero     = x_i[14:7] == '0 || w_i[14:7] == '0;
  assign es       = {1'b0, x_i[14:7]} + {1'b0, w_i[14:7]};
  assign anchor_o = zero ? '0 : es[8:3];

  always_ff @(posedge clk_i) begin
    if (stage_i[0]) begin
      product1_q <= {8'b0, 1'b1, x_i[6:0]} * {8'b0, 1'b1, w_i[6:0]};
      r1_q       <= es[2:0];
      q1_q       <= anchor_o;
      zero1_q    <= zero;
      minus1_q   <= x_i[15] ^ w_i[15];
    end
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

  assign minus_o = minus2_q;

  // ---- stage 3: align by whole bytes -------------------------------------------------
  logic [5:0]           down;
  logic [FieldBits-1:0] padded, aligned;

  assign down   = largest_i - q2_q;
  assign padded = {product2_q, {isa_pkg::FieldFraction{1'b0}}};
  always_comb begin
    unique case (down)
      6'd0:    aligned = padded;
      6'd1:    aligned = padded >> 8;
      6'd2:    aligned = padded >> 16;
      6'd3:    aligned = padded >> 24;
      6'd4:    aligned = padded >> 32;
      default: aligned = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (stage_i[2]) begin
      field_o <= {1'b0, aligned} ^ {(FieldBits + 1) {minus2_q}};
    end
  end
endmodule
