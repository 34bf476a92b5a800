// Rounds accumulator rows to fp32 or, with zeros below, to bf16; or hands on one half
// of their 64 bits as they are.
// Inputs in cycle t; valid_o and row_o in t + Stages - 1, where row_o comes straight
// from the last stage's logic: it is meant for a FIFO's write port. With four stages a
// register lies between the rounding and the choice of zero, infinity and NaN.
//
// A negative integer is taken as its one's complement with ones running out below,
// so the missing one is worth an infinitely small amount and only decides ties.
`include "assert.svh"

module normalise #(
    parameter int unsigned Lanes     = 8,
    parameter int unsigned AccBits   = isa_pkg::AccBits,      // whole bytes, at most 7
    parameter int unsigned Offset    = isa_pkg::ValueOffset,  // value: m * 2^(8 anchor - Offset)
    parameter int unsigned Stages    = isa_pkg::MmNormaliseDefault,
    localparam int unsigned LaneBits = isa_pkg::AnchorBits + AccBits + 1
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  logic                      fp32_i,
    input  logic                      low_i,   // bits 31:0, not rounded
    input  logic                      high_i,  // bits 63:32, not rounded
    input  logic [Lanes*LaneBits-1:0] lane_i,  // {poison, anchor, integer}
    output logic                      valid_o,
    output logic [Lanes*32-1:0]       row_o
);
  `SLUICE_REQUIRE(Stages == 3 || Stages == 4)
  `SLUICE_REQUIRE(AccBits[2:0] == 3'd0 && AccBits <= 56)

  localparam int unsigned Top   = AccBits - 1;
  localparam int unsigned Bytes = AccBits / 8;

  logic valid2_q, valid3_q, fp32_2_q, fp32_3_q, as_is2_q, as_is3_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      valid2_q <= valid_i;
      valid3_q <= valid2_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      fp32_2_q <= fp32_i;
      as_is2_q <= low_i || high_i;
    end
    if (valid2_q) begin
      fp32_3_q <= fp32_2_q;
      as_is3_q <= as_is2_q;
    end
  end

  // The last stage, of the beat in stage 3 or of the one before it.
  logic fp32, as_is;
  if (Stages == 4) begin : gen_last
    logic valid_q, fp32_q, as_is_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= valid3_q;
    end
    always_ff @(posedge clk_i) begin
      if (valid3_q) begin
        fp32_q  <= fp32_3_q;
        as_is_q <= as_is3_q;
      end
    end
    assign valid_o = valid_q;
    assign fp32    = fp32_q;
    assign as_is   = as_is_q;
  end else begin : gen_no_last
    assign valid_o = valid3_q;
    assign fp32    = fp32_3_q;
    assign as_is   = as_is3_q;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    // ---- what is not rounded goes beside ---------------------------------------------------
    logic [31:0] as_is_bits2_q, as_is_bits3_q;

    always_ff @(posedge clk_i) begin
      if (valid_i) as_is_bits2_q <= high_i ? 32'(lane_i[i*LaneBits+32+:LaneBits-32]) : lane_i[i*LaneBits+:32];
      if (valid2_q) as_is_bits3_q <= as_is_bits2_q;
    end

    // ---- stage 1: leading byte to the top -----------------------------------------------
    logic         poison2_q, minus2_q, zero2_q;
    logic [Top:0] bytes2_q;
    logic [6:0]   base2_q;  // anchor less skipped bytes, two's complement

    always_ff @(posedge clk_i) begin
      logic         poison, minus;
      logic [5:0]   anchor;
      logic [Top:0] m;
      logic [2:0]   skip;
      if (valid_i) begin
        {poison, anchor, m} = lane_i[i*LaneBits+:LaneBits];
        minus = m[Top];
        skip  = 3'(Bytes);
        for (int k = Bytes - 1; k >= 0; k--) if (m[Top-8*k-:8] != {8{minus}}) skip = 3'(k);
        poison2_q <= poison;
        minus2_q  <= minus;
        zero2_q   <= m == '0;
        base2_q   <= {1'b0, anchor} - {4'b0, skip};
        // Complementing after the move makes the bits moved in the ones below.
        bytes2_q  <= (m << {skip, 3'b0}) ^ {AccBits{minus}};
      end
    end

    // ---- stage 2: leading one to the top, and what decides the rounding ----------------------
    logic        poison3_q, minus3_q, zero3_q, half3_q, rest3_q, odd3_q;
    logic [22:0] mantissa3_q;
    logic [9:0]  exponent3_q;  // biased, two's complement

    always_ff @(posedge clk_i) begin
      logic [2:0]          fine;
      logic [Top-1:0]      moved;  // complemented back: nothing below is zeros
      logic [Top-1:Top-24] top;    // without the leading one and what only decides ties
      if (valid2_q) begin
        fine  = 3'd7;
        for (int k = 6; k >= 0; k--) if (bytes2_q[Top-k]) fine = 3'(k);
        moved = Top'((bytes2_q ^ {AccBits{minus2_q}}) << fine);
        top   = moved[Top-1:Top-24] ^ {24{minus2_q}};
        poison3_q   <= poison2_q;
        minus3_q    <= minus2_q;
        zero3_q     <= zero2_q;
        exponent3_q <= {base2_q, 3'b0} - 10'(Offset - 126 - AccBits) - {7'b0, fine};
        mantissa3_q <= {top[Top-1:Top-7], fp32_2_q ? top[Top-8:Top-23] : 16'hFFFF};
        odd3_q      <= fp32_2_q ? top[Top-23] : top[Top-7];
        half3_q     <= fp32_2_q ? top[Top-24] : top[Top-8];
        rest3_q     <= moved[Top-25:0] != '0 || (!fp32_2_q && moved[Top-9:Top-24] != '0);
      end
    end

    // ---- stage 3: round ---------------------------------------------------------------------
    logic        up, carry, poison, minus, zero;
    logic [22:0] rounded, mantissa;
    logic [9:0]  raised, exponent;
    logic [31:0] as_is_bits;

    // Ones below a negative number make a half more than a half, and a rest of
    // nothing but ones a half.
    assign up      = minus3_q ? half3_q || (odd3_q && !rest3_q) : half3_q && (odd3_q || rest3_q);
    assign rounded = mantissa3_q + 23'(up);
    assign carry   = up && mantissa3_q == '1;
    assign raised  = carry ? exponent3_q + 10'd1 : exponent3_q;

    if (Stages == 4) begin : gen_last_stage
      always_ff @(posedge clk_i) begin
        if (valid3_q) begin
          poison     <= poison3_q;
          minus      <= minus3_q;
          zero       <= zero3_q;
          mantissa   <= rounded;
          exponent   <= raised;
          as_is_bits <= as_is_bits3_q;
        end
      end
    end else begin : gen_same_stage
      assign poison     = poison3_q;
      assign minus      = minus3_q;
      assign zero       = zero3_q;
      assign mantissa   = rounded;
      assign exponent   = raised;
      assign as_is_bits = as_is_bits3_q;
    end

    // ---- the last stage: what is no number that is rounded -----------------------------------
    logic over, under;
    assign under = zero || exponent[9] || exponent[8:0] == '0;
    assign over  = exponent[8] || exponent[7:0] == '1;

    always_comb begin
      if (as_is) row_o[i*32+:32] = as_is_bits;
      else if (poison) row_o[i*32+:32] = 32'h7FC00000;
      else if (under) row_o[i*32+:32] = {minus, 31'b0};
      else if (over) row_o[i*32+:32] = {minus, 8'hFF, 23'b0};
      else row_o[i*32+:32] = {minus, exponent[7:0], mantissa[22:16], fp32 ? mantissa[15:0] : 16'b0};
    end
  end
endmodule
