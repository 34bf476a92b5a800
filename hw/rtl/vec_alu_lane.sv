// One lane of an arithmetic unit: fp32, six stages. Stage 1 compares, stage 2
// orders the operands of an addition and settles everything that is not a
// rounded number, stages 3 to 5 add or multiply and normalise, stage 6 rounds.
// Operands in cycle t, result registered in t+6. stage_i[k] is high in cycle t+k
// for a beat that entered in t; the enables below follow it in the same way.
module vec_alu_lane (
    input  logic        clk_i,
    input  logic [5:0]  stage_i,
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

  // ---- stage 1: compare -------------------------------------------------------
  logic [31:0] l1_q, r1_q;
  logic [15:0] b1_q, c1_q;
  logic        sl1_q, sr1_q, zl1_q, zr1_q, nl1_q, nr1_q, il1_q, ir1_q, less1_q;
  logic [3:0]  alike1_q;  // equal bits, 8 by 8: all 31 are too many for a stage
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
      nl1_q   <= el == 8'd255 && left_i[22:0] != '0;
      nr1_q   <= er == 8'd255 && right_i[22:0] != '0;
      il1_q   <= el == 8'd255 && left_i[22:0] == '0;
      ir1_q   <= er == 8'd255 && right_i[22:0] == '0;
      less1_q <= left_i[30:0] < right_i[30:0];
      alike1_q <= {left_i[30:24] == right_i[30:24], left_i[23:16] == right_i[23:16],
                   left_i[15:8] == right_i[15:8], left_i[7:0] == right_i[7:0]};
      dlr1_q  <= el - er;
      drl1_q  <= er - el;
    end
  end

  // ---- stage 2: what needs no arithmetic ---------------------------------------
  logic [31:0] fl, fr;  // denormals flushed
  logic        any_nan, both_zero, same, below, less, equal;
  logic        special, special2_q;
  logic [31:0] value, value2_q;

  assign fl        = {l1_q[31:23], l1_q[22:0] & {23{!zl1_q}}};
  assign fr        = {r1_q[31:23], r1_q[22:0] & {23{!zr1_q}}};
  assign any_nan   = nl1_q || nr1_q;
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
        special = any_nan || il1_q || ir1_q || both_zero;
        if (any_nan || (il1_q && ir1_q && sl1_q != sr1_q)) value = NaN;
        else if (both_zero) value = {sl1_q && sr1_q, 31'b0};
        else value = {il1_q ? sl1_q : sr1_q, 8'hFF, 23'b0};
      end
      isa_pkg::AluMul: begin
        special = any_nan || il1_q || ir1_q || zl1_q || zr1_q;
        if (any_nan || (il1_q && zr1_q) || (ir1_q && zl1_q)) value = NaN;
        else value = {l1_q[31] ^ r1_q[31], {8{il1_q || ir1_q}}, 23'b0};
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

  // ---- stage 2: order and align the addends; multiply by 6 bits at a time ------
  logic [23:0] sig_l, sig_r, major, minor, major2_q;
  logic [7:0]  distance;
  logic [26:0] padded, shifted, lost, minor2_q;  // two bits below the last place, sticky
  logic        sticky, subtract2_q, sign2_q;
  logic [9:0]  exp2_q;  // biased, two's complement; of a product: if it is below 2
  logic [29:0] part0_q, part1_q, part2_q, part3_q;

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
      part0_q <= 30'({1'b1, l1_q[22:0]}) * 30'(r1_q[5:0]);
      part1_q <= 30'({1'b1, l1_q[22:0]}) * 30'(r1_q[11:6]);
      part2_q <= 30'({1'b1, l1_q[22:0]}) * 30'(r1_q[17:12]);
      part3_q <= 30'({1'b1, l1_q[22:0]}) * 30'({1'b1, r1_q[22:18]});
      sign2_q <= l1_q[31] ^ r1_q[31];
      exp2_q  <= {2'b0, l1_q[30:23]} + {2'b0, r1_q[30:23]};
    end
  end

  // ---- stage 3: add; join the partial products in pairs ------------------------
  logic [27:0] sum3_q;
  logic [35:0] low3_q, high3_q;
  logic [9:0]  exp3_q;
  logic        sign3_q, special3_q;
  logic [31:0] value3_q;

  always_ff @(posedge clk_i) begin
    if (stage_i[2]) begin
      special3_q <= special2_q;
      value3_q   <= value2_q;
      sign3_q    <= sign2_q;
    end
    if (add_i[1]) begin
      sum3_q <= subtract2_q ? {1'b0, major2_q, 3'b0} - {1'b0, minor2_q}
                            : {1'b0, major2_q, 3'b0} + {1'b0, minor2_q};
      exp3_q <= exp2_q;
    end
    if (mul_i[1]) begin
      low3_q  <= {6'b0, part0_q} + {part1_q, 6'b0};
      high3_q <= {6'b0, part2_q} + {part3_q, 6'b0};
      exp3_q  <= exp2_q - 10'd127;
    end
  end

  // ---- stage 4: leading one of the sum, to a group of four; the product --------
  logic [6:0]  used;
  logic [2:0]  skip, skip4_q;
  logic [27:0] sum4_q;
  logic [47:0] product4_q;
  logic [9:0]  exp4_q;
  logic        sign4_q, special4_q;
  logic [31:0] value4_q;

  for (genvar i = 0; i < 7; i++) begin : gen_used
    assign used[i] = sum3_q[27-4*i-:4] != '0;
  end
  always_comb begin
    skip = 3'd6;
    for (int i = 5; i >= 0; i--) if (used[i]) skip = 3'(i);
  end

  always_ff @(posedge clk_i) begin
    if (stage_i[3]) begin
      special4_q <= special3_q;
      value4_q   <= value3_q;
      sign4_q    <= sign3_q;
      exp4_q     <= exp3_q;
    end
    if (add_i[2]) begin
      sum4_q  <= sum3_q << {skip, 2'b0};
      skip4_q <= skip;
    end
    if (mul_i[2]) product4_q <= {12'b0, low3_q} + {high3_q, 12'b0};
  end

  // ---- stage 5: leading one at the top -----------------------------------------
  logic [1:0]  fine;
  logic [26:0] normal;  // without the leading one
  logic [23:0] sig5_q;  // 23 bits below the leading one, and the half
  logic        rest5_q;
  logic [9:0]  exp5_q;
  logic        sign5_q, special5_q;
  logic [31:0] value5_q;

  assign fine   = sum4_q[27] ? 2'd0 : sum4_q[26] ? 2'd1 : sum4_q[25] ? 2'd2 : 2'd3;
  assign normal = 27'(sum4_q << fine);

  always_ff @(posedge clk_i) begin
    if (stage_i[4]) begin
      sign5_q    <= sign4_q;
      special5_q <= special4_q;
      value5_q   <= value4_q;
    end
    if (add_i[3]) begin
      sig5_q  <= normal[26:3];
      rest5_q <= normal[2:0] != '0;
      exp5_q  <= exp4_q + 10'd1 - {5'b0, skip4_q, fine};
      // An exact cancellation is +0.
      if (sum4_q[27:24] == '0) begin
        special5_q <= 1'b1;
        if (!special4_q) value5_q <= '0;
      end
    end
    if (mul_i[3]) begin
      sig5_q  <= product4_q[47] ? product4_q[46:23] : product4_q[45:22];
      rest5_q <= product4_q[21:0] != '0 || (product4_q[47] && product4_q[22]);
      exp5_q  <= product4_q[47] ? exp4_q + 10'd1 : exp4_q;
    end
  end

  // ---- stage 6: round ----------------------------------------------------------
  logic        up, carry, over, under;
  logic [22:0] mantissa;
  logic [9:0]  exponent;

  assign up       = sig5_q[0] && (rest5_q || sig5_q[1]);
  assign mantissa = sig5_q[23:1] + 23'(up);
  assign carry    = up && sig5_q[23:1] == '1;
  assign exponent = carry ? exp5_q + 10'd1 : exp5_q;
  assign over     = !exponent[9] && (exponent[8] || exponent[7:0] == 8'd255);
  assign under    = exponent[9] || exponent[8:0] == '0;

  always_ff @(posedge clk_i) begin
    if (stage_i[5]) begin
      if (special5_q) result_o <= value5_q;
      else if (under) result_o <= {sign5_q, 31'b0};
      else if (over) result_o <= {sign5_q, 8'hFF, 23'b0};
      else result_o <= {sign5_q, exponent[7:0], mantissa};
    end
  end
endmodule
