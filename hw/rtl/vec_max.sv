// Maximum of two fp32 values, -0 below +0, NaN (as 0x7FC00000) if either is one.
// Canonical operands have no denormals and no other NaN; their NaN compares above
// everything by its bits. Combinational.
module vec_max #(
    parameter bit Canonical = 1'b1
) (
    input  logic [31:0] left_i,
    input  logic [31:0] right_i,
    output logic [31:0] max_o
);
  logic        below;  // left < right in the order of the bits
  logic [31:0] larger;

  assign below = left_i[31] != right_i[31] ? left_i[31]
               : left_i[31] ? left_i[30:0] > right_i[30:0] : left_i[30:0] < right_i[30:0];
  assign larger = below ? right_i : left_i;

  if (Canonical) begin : gen_canonical
    assign max_o = larger;
  end else begin : gen_raw
    logic nan_l, nan_r, zero_l, zero_r;
    assign nan_l  = left_i[30:23] == '1 && left_i[22:0] != '0;
    assign nan_r  = right_i[30:23] == '1 && right_i[22:0] != '0;
    assign zero_l = left_i[30:23] == '0;
    assign zero_r = right_i[30:23] == '0;
    // Flushing keeps the order, so it can follow the comparison.
    always_comb begin
      if (nan_l || nan_r) max_o = 32'h7FC00000;
      else max_o = {larger[31:23], larger[22:0] & {23{!(below ? zero_r : zero_l)}}};
    end
  end
endmodule
