// Maximum of two fp32 values, NaN (as 0x7FC00000) if either is one, the left one of
// two equal ones. -0 is below +0, or both become +0 with unsigned_i.
// Canonical operands have no denormals and no other NaN; their NaN compares above
// everything by its bits. Combinational.
module vec_max #(
    parameter bit Canonical = 1'b1
) (
    input  logic [31:0] left_i,
    input  logic [31:0] right_i,
    input  logic        unsigned_i,  // not used if Canonical
    output logic [31:0] max_o,
    output logic        right_o      // the right one is larger
);
  logic        below;  // left < right in the order of the bits
  logic [31:0] larger;

  // The larger of two negative numbers is the smaller one in their other bits.
  assign below = left_i[31] != right_i[31] ? left_i[31]
               : (left_i[30:0] ^ {31{left_i[31]}}) < (right_i[30:0] ^ {31{left_i[31]}});
  assign larger = below ? right_i : left_i;

  if (Canonical) begin : gen_canonical
    assign max_o   = larger;
    assign right_o = below;
    logic unused;
    assign unused = unsigned_i;
  end else begin : gen_raw
    logic nan_l, nan_r, zero_l, zero_r, zero;
    assign nan_l  = left_i[30:23] == '1 && left_i[22:0] != '0;
    assign nan_r  = right_i[30:23] == '1 && right_i[22:0] != '0;
    assign zero_l = left_i[30:23] == '0;
    assign zero_r = right_i[30:23] == '0;
    assign zero   = below ? zero_r : zero_l;
    // The left one of two NaN, or of two zeros: flushing must not decide.
    assign right_o = !nan_l && (nan_r || (below && !(zero_l && zero_r)));
    // Flushing keeps the order, so it can follow the comparison.
    always_comb begin
      if (nan_l || nan_r) max_o = 32'h7FC00000;
      else max_o = {larger[31] && !(zero && unsigned_i), larger[30:23], larger[22:0] & {23{!zero}}};
    end
  end
endmodule
