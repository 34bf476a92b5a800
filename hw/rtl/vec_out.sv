// The end of a vector beat: relu if asked for, then rounding to bf16 (nearest
// even, denormals to signed zero, every NaN to 0x7FC0) or one half of the bits.
// Inputs in cycle t, row_o and valid_o in t + vec_out (Stages), registered. With two
// stages the inputs are registered first.
`include "assert.svh"

module vec_out #(
    parameter int unsigned Lanes  = 8,
    parameter int unsigned Stages = isa_pkg::VecOutDefault
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic                relu_i,
    input  logic [1:0]          part_i,
    input  logic [Lanes*32-1:0] value_i,
    output logic                valid_o,
    output logic [Lanes*16-1:0] row_o
);
  `SLUICE_REQUIRE(Stages == 1 || Stages == 2)

  logic                valid, relu;
  logic [1:0]          part;
  logic [Lanes*32-1:0] value;

  optional_register #(.Width(1), .Present(Stages == 2)) u_valid (
      .clk_i, .enable_i(1'b1), .data_i(valid_i && !rst_i), .data_o(valid)
  );
  optional_register #(.Width(3 + Lanes * 32), .Present(Stages == 2)) u_first (
      .clk_i, .enable_i(valid_i), .data_i({relu_i, part_i, value_i}), .data_o({relu, part, value})
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_o <= 1'b0;
    else valid_o <= valid;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [31:0] x;
    logic        up, zero, is_nan, clears;
    logic [14:0] rounded;

    assign x       = value[i*32+:32];
    assign zero    = x[30:23] == '0;
    assign is_nan  = x[30:23] == '1 && x[22:0] != '0;
    assign up      = x[15] && (x[16] || x[14:0] != '0);
    assign rounded = x[30:16] + 15'(up);
    assign clears  = relu && x[31] && !is_nan && !zero;

    always_ff @(posedge clk_i) begin
      if (valid) begin
        if (clears) row_o[i*16+:16] <= '0;
        else if (part == isa_pkg::PartHigh) row_o[i*16+:16] <= x[31:16];
        else if (part == isa_pkg::PartLow) row_o[i*16+:16] <= x[15:0];
        else if (is_nan) row_o[i*16+:16] <= 16'h7FC0;
        else if (zero) row_o[i*16+:16] <= {x[31], 15'b0};
        else row_o[i*16+:16] <= {x[31], rounded};
      end
    end
  end
endmodule
