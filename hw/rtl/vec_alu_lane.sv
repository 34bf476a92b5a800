// One lane of an arithmetic unit: fp32, six steps. Step 1 compares, step 2
// orders the operands of an addition and settles everything that is not a
// rounded number, steps 3 to 5 add or multiply and normalise, step 6 rounds. Each
// step is a stage; with five stages there is no register between steps 3 and 4,
// with four none between 5 and 6 either.
// Operands in cycle t, result registered in t + Stages. stage_i[k] is high in cycle
// t+k for a beat that entered in t; the enables below follow it in the same way.
`include "assert.svh"

module vec_alu_lane #(
    parameter int unsigned Stages = isa_pkg::VecAluDefault
) (
    input  logic        clk_i,
    input  logic [Stages-1:0] stage_i,
    input  logic [3:0]  add_i,      // [k]: the beat in stage k+2 adds
    input  logic [3:0]  mul_i,      // [k]: the beat in stage k+2 multiplies
    input  logic        negate_l_i, // rsub, in t
    input  logic        negate_r_i, // sub, in t
    input  logic [4:0]  op_i,       // in t+1
    input  logic [31:0] left_i,
    input  logic [31:0] right_i,
    input  logic [15:0] b_i,        // bf16, for select
    input  logic [15:0] c_i,
    output logic [31:0] result_o
);
  localparam logic [31:0] NaN = 32'h7FC00000;
  localparam logic [31:0] One = 32'h3F800000;

  `SLUICE_REQUIRE(Stages >= 4 && Stages <= 6)

  localparam bit Holds3 = Stages > 5;  // registers behind step 3, and behind step 5
  localparam bit Holds5 = Stages > 4;
  localparam int unsigned At4 = Holds3 ? 3 : 2;           // the cycle of step 4
  localparam int unsigned At5 = At4 + 1;
  localparam int unsigned At6 = Holds5 ? At5 + 1 : At5;

  // ---- step 1: compare --------------------------------------------------------
  logic [31:0] l1_q, r1_q;
  logic [15:0] b1_q, c1_q;
  logic        sl1_q, sr1_q, zl1_q, zr1_q, ones_l1_q, ones_r1_q, less1_q;
  // Equal bits, and ones in the mantissas, 8 by 8: all of them are too many for a stage.
  logic [3:0]  alike1_q;
  logic [2:0]  some_l1_q, some_r1_q;
  logic [7:0]  el, er, dlr1_q, drl1_q;

  assign el = left_i[30:23];
  assign er = right_i[30:23];

  always_ff @(posedge clk_i) begin
    if (stage_i[0]) begin
      l1_q    <= left_i;
      r1_q    <= right_i;
      b1_q    <= b_i;
      c1_q    <= c_i;
      sl1_q   <= left_i[31] ^ negate_l_i;
      sr1_q   <= right_i[31] ^ negate_r_i;
      zl1_q   <= el == 8'd0;
      zr1_q   <= er == 8'd0;
      ones_l1_q <= el == 8'd255;
      ones_r1_q <= er == 8'd255;
      some_l1_q <= {left_i[22:16] != '0, left_i[15:8] != '0, left_i[7:0] != '0};
      some_r1_q <= {right_i[22:16] != '0, right_i[15:8] != '0, right_i[7:0] != '0};
      less1_q <= left_i[30:0] < right_i[30:0];
      alike1_q <= {left_i[30:24] == right_i[30:24], left_i[23:16] == right_i[23:16],
                   left_i[15:8] == right_i[15:8], left_i[7:0] == right_i[7:0]};
      dlr1_q  <= el - er;
      drl1_q  <= er - el;
    end
  end

  // ---- step 2: what needs no arithmetic ----------------------------------------
  logic [31:0] fl, fr;  // denormals flushed
  logic        nl, nr, il, ir, any_nan, both_zero, same, below, less, equal;
  logic        special, special2_q;
  logic [31:0] value, value2_q;

  assign fl        = {l1_q[31:23], l1_q[22:0] & {23{!zl1_q}}};
  assign fr        = {r1_q[31:23], r1_q[22:0] & {23{!zr1_q}}};
  assign nl        = ones_l1_q && some_l1_q != '0;
  assign nr        = ones_r1_q && some_r1_q != '0;
  assign il        = ones_l1_q && some_l1_q == '0;
  assign ir        = ones_r1_q && some_r1_q == '0;
  assign any_nan   = nl || nr;
  assign both_zero = zl1_q && zr1_q;
  assign same      = &alike1_q;
  // Order with -0 below +0, for max and min; comparisons treat zeros as equal.
  assign below = (l1_q[31] != r1_q[31]) ? l1_q[31]
                                        : (!both_zero && (l1_q[31] ? !less1_q && !same : less1_q));
  assign less  = below && !both_zero && !any_nan;
  assign equal = (both_zero || (same && l1_q[31] == r1_q[31])) && !any_nan;

  always_comb begin
    special = 1'b1;
    value   = NaN;
    unique case (op_i)
      isa_pkg::AluAdd, isa_pkg::AluSub, isa_pkg::AluRsub: begin
        special = any_nan || il || ir || both_zero;
        if (any_nan || (il && ir && sl1_q != sr1_q)) value = NaN;
        else if (both_zero) value = {sl1_q && sr1_q, 31'b0};
        else value = {il ? sl1_q : sr1_q, 8'hFF, 23'b0};
      end
      isa_pkg::AluMul: begin
        special = any_nan || il || ir || zl1_q || zr1_q;
        if (any_nan || (il && zr1_q) || (ir && zl1_q)) value = NaN;
        else value = {l1_q[31] ^ r1_q[31], {8{il || ir}}, 23'b0};
      end
      isa_pkg::AluMax:    value = any_nan ? NaN : below ? fr : fl;
      isa_pkg::AluMin:    value = any_nan ? NaN : below ? fl : fr;
      isa_pkg::AluLt:     value = less ? One : '0;
      isa_pkg::AluLe:     value = (less || equal) ? One : '0;
      isa_pkg::AluEq:     value = equal ? One : '0;
      isa_pkg::AluNe:     value = !equal ? One : '0;
      isa_pkg::AluGe:     value = (!less && !any_nan) ? One : '0;
      isa_pkg::AluGt:     value = (!less && !equal && !any_nan) ? One : '0;
      isa_pkg::AluSelect: value = {zl1_q ? c1_q : b1_q, 16'b0};
      default:            value = NaN;
    endcase
  end

  // ---- step 2: order and align the addends; multiply 12 by 12 bits -----------
  logic [23:0] sig_l, sig_r, major, minor, major2_q;
  logic [7:0]  distance;
  logic [26:0] padded, shifted, lost, minor2_q;  // two bits below the last place, sticky
  logic        sticky, subtract2_q, sign2_q;
  logic [9:0]  exp2_q;  // biased, two's complement; of a product: if it is below 2
  logic [23:0] low2_q, middle0_q, middle1_q, high2_q;  // products of the halves

  assign sig_l    = {!zl1_q, fl[22:0]};
  assign sig_r    = {!zr1_q, fr[22:0]};
  assign major      = less1_q ? sig_r : sig_l;
  assign minor    = less1_q ? sig_l : sig_r;
  assign distance = less1_q ? drl1_q : dlr1_q;
  assign padded   = {minor, 3'b0};
  assign shifted  = padded >> distance[4:0];
  // What leaves at the bottom is kept as one bit.
  assign lost     = padded & ~({27{1'b1}} << distance[4:0]);
  assign sticky   = lost != '0;

  always_ff @(posedge clk_i) begin
    if (stage_i[1]) begin
      special2_q <= special;
      value2_q   <= value;
    end
    if (add_i[0]) begin
      major2_q      <= major;
      minor2_q    <= distance[7:5] != '0 ? {26'b0, minor[23]} : {shifted[26:1], shifted[0] || sticky};
      subtract2_q <= sl1_q ^ sr1_q;
      sign2_q     <= less1_q ? sr1_q : sl1_q;
      exp2_q      <= {2'b0, less1_q ? r1_q[30:23] : l1_q[30:23]};
    end
    if (mul_i[0]) begin
      sign2_q <= l1_q[31] ^ r1_q[31];
      exp2_q  <= {2'b0, l1_q[30:23]} + {2'b0, r1_q[30:23]};
    end
  end

  // The halves of both significands, each with each.
  logic [23:0] left_halves, right_halves;
  logic [95:0] products;

  assign left_halves  = {1'b1, l1_q[22:0]};
  assign right_halves = {1'b1, r1_q[22:0]};
  assign {high2_q, middle1_q, middle0_q, low2_q} = products;
  for (genvar i = 0; i < 4; i++) begin : gen_product
    multiplier u_multiplier (
        .clk_i,
        .enable_i (mul_i[0]),
        .left_i   (left_halves[i%2*12+:12]),
        .right_i  (right_halves[i/2*12+:12]),
        .product_o(products[i*24+:24])
    );
  end

  // ---- step 3: add; join the two products in the middle ------------------------
  logic [27:0] sum, sum3;
  logic [24:0] middle, middle3;
  logic [47:0] outer3;  // the high and the low product
  logic [9:0]  exp, exp3;
  logic        sign3, special3;
  logic [31:0] value3;

  assign sum   = subtract2_q ? {1'b0, major2_q, 3'b0} - {1'b0, minor2_q}
                             : {1'b0, major2_q, 3'b0} + {1'b0, minor2_q};
  assign middle = {1'b0, middle0_q} + {1'b0, middle1_q};
  assign exp   = mul_i[1] ? exp2_q - 10'd127 : exp2_q;

  optional_register #(.Width(34), .Present(Holds3)) u_value3 (
      .clk_i, .enable_i(stage_i[2]), .data_i({special2_q, value2_q, sign2_q}), .data_o({special3, value3, sign3})
  );
  optional_register #(.Width(28), .Present(Holds3)) u_sum3 (
      .clk_i, .enable_i(add_i[1]), .data_i(sum), .data_o(sum3)
  );
  optional_register #(.Width(73), .Present(Holds3)) u_product3 (
      .clk_i, .enable_i(mul_i[1]), .data_i({middle, high2_q, low2_q}), .data_o({middle3, outer3})
  );
  optional_register #(.Width(10), .Present(Holds3)) u_exp3 (
      .clk_i, .enable_i(add_i[1] || mul_i[1]), .data_i(exp), .data_o(exp3)
  );

  // ---- step 4: leading one of the sum, to a group of four; the product ---------
  logic [6:0]  used;
  logic [2:0]  skip, skip4_q;
  logic [27:0] sum4_q;
  logic [47:0] product4_q;
  logic [9:0]  exp4_q;
  logic        sign4_q, special4_q;
  logic [31:0] value4_q;

  for (genvar i = 0; i < 7; i++) begin : gen_used
    assign used[i] = sum3[27-4*i-:4] != '0;
  end
  always_comb begin
    skip = 3'd6;
    for (int i = 5; i >= 0; i--) if (used[i]) skip = 3'(i);
  end

  always_ff @(posedge clk_i) begin
    if (stage_i[At4]) begin
      special4_q <= special3;
      value4_q   <= value3;
      sign4_q    <= sign3;
      exp4_q     <= exp3;
    end
    if (add_i[At4-1]) begin
      sum4_q  <= sum3 << {skip, 2'b0};
      skip4_q <= skip;
    end
    if (mul_i[At4-1]) product4_q <= outer3 + {11'b0, middle3, 12'b0};
  end

  // ---- step 5: leading one at the top ------------------------------------------
  logic [1:0]  fine;
  logic [26:0] normal;  // without the leading one
  logic [23:0] sum_sig5, product_sig5, sig5;  // 23 bits below the leading one, and the half
  logic [9:0]  sum_exp5, product_exp5, exp5;
  logic        sum_rest5, product_rest5, rest5, cancels, sign5, special5;
  logic [31:0] value5;

  assign fine      = sum4_q[27] ? 2'd0 : sum4_q[26] ? 2'd1 : sum4_q[25] ? 2'd2 : 2'd3;
  assign normal    = 27'(sum4_q << fine);
  assign cancels   = sum4_q[27:24] == '0;  // an exact cancellation, which is +0
  assign sum_sig5  = normal[26:3];
  assign sum_rest5 = normal[2:0] != '0;
  assign sum_exp5  = exp4_q + 10'd1 - {5'b0, skip4_q, fine};

  assign product_sig5  = product4_q[47] ? product4_q[46:23] : product4_q[45:22];
  assign product_rest5 = product4_q[21:0] != '0 || (product4_q[47] && product4_q[22]);
  assign product_exp5  = product4_q[47] ? exp4_q + 10'd1 : exp4_q;

  logic adds;
  assign adds = add_i[At5-1];

  optional_register #(.Width(34), .Present(Holds5)) u_value5 (
      .clk_i, .enable_i(stage_i[At5]),
      .data_i({special4_q || (adds && cancels), special4_q || !(adds && cancels) ? value4_q : '0, sign4_q}),
      .data_o({special5, value5, sign5})
  );
  optional_register #(.Width(35), .Present(Holds5)) u_number5 (
      .clk_i, .enable_i(adds || mul_i[At5-1]),
      .data_i(adds ? {sum_sig5, sum_rest5, sum_exp5} : {product_sig5, product_rest5, product_exp5}),
      .data_o({sig5, rest5, exp5})
  );

  // ---- step 6: round -----------------------------------------------------------
  logic        up, carry, over, under;
  logic [22:0] mantissa;
  logic [9:0]  exponent;

  assign up       = sig5[0] && (rest5 || sig5[1]);
  assign mantissa = sig5[23:1] + 23'(up);
  assign carry    = up && sig5[23:1] == '1;
  assign exponent = carry ? exp5 + 10'd1 : exp5;
  assign over     = !exponent[9] && (exponent[8] || exponent[7:0] == 8'd255);
  assign under    = exponent[9] || exponent[8:0] == '0;

  always_ff @(posedge clk_i) begin
    if (stage_i[At6]) begin
      if (special5) result_o <= value5;
      else if (under) result_o <= {sign5, 31'b0};
      else if (over) result_o <= {sign5, 8'hFF, 23'b0};
      else result_o <= {sign5, exponent[7:0], mantissa};
    end
  end
endmodule
