// The multiplier of 18 x 18 of an ECP5 part, whose own output register holds the product: the
// same function as hw/rtl/cells/multiplier.sv.
`include "assert.svh"

module multiplier #(
    parameter int unsigned Width = 12
) (
    input  logic               clk_i,
    input  logic               enable_i,
    input  logic [Width-1:0]   left_i,
    input  logic [Width-1:0]   right_i,
    output logic [2*Width-1:0] product_o
);
  `SLUICE_REQUIRE(Width <= 18)

  logic [17:0] left, right;
  logic [35:0] product;

  assign left      = 18'(left_i);
  assign right     = 18'(right_i);
  assign product_o = product[2*Width-1:0];

  MULT18X18D #(
      .REG_OUTPUT_CLK("CLK0"),
      .REG_OUTPUT_CE ("CE0"),
      .REG_OUTPUT_RST("RST0"),
      .GSR           ("DISABLED")
  ) u_cell (
      .A0(left[0]), .A1(left[1]), .A2(left[2]), .A3(left[3]), .A4(left[4]), .A5(left[5]),
      .A6(left[6]), .A7(left[7]), .A8(left[8]), .A9(left[9]), .A10(left[10]), .A11(left[11]),
      .A12(left[12]), .A13(left[13]), .A14(left[14]), .A15(left[15]), .A16(left[16]),
      .A17(left[17]), .B0(right[0]), .B1(right[1]), .B2(right[2]), .B3(right[3]), .B4(right[4]),
      .B5(right[5]), .B6(right[6]), .B7(right[7]), .B8(right[8]), .B9(right[9]),
      .B10(right[10]), .B11(right[11]), .B12(right[12]), .B13(right[13]), .B14(right[14]),
      .B15(right[15]), .B16(right[16]), .B17(right[17]), .C0(1'b0), .C1(1'b0), .C2(1'b0),
      .C3(1'b0), .C4(1'b0), .C5(1'b0), .C6(1'b0), .C7(1'b0), .C8(1'b0), .C9(1'b0), .C10(1'b0),
      .C11(1'b0), .C12(1'b0), .C13(1'b0), .C14(1'b0), .C15(1'b0), .C16(1'b0), .C17(1'b0),
      .SIGNEDA(1'b0), .SIGNEDB(1'b0), .SOURCEA(1'b0), .SOURCEB(1'b0), .CLK0(clk_i),
      .CE0(enable_i), .RST0(1'b0), .P0(product[0]), .P1(product[1]), .P2(product[2]),
      .P3(product[3]), .P4(product[4]), .P5(product[5]), .P6(product[6]), .P7(product[7]),
      .P8(product[8]), .P9(product[9]), .P10(product[10]), .P11(product[11]), .P12(product[12]),
      .P13(product[13]), .P14(product[14]), .P15(product[15]), .P16(product[16]),
      .P17(product[17]), .P18(product[18]), .P19(product[19]), .P20(product[20]),
      .P21(product[21]), .P22(product[22]), .P23(product[23]), .P24(product[24]),
      .P25(product[25]), .P26(product[26]), .P27(product[27]), .P28(product[28]),
      .P29(product[29]), .P30(product[30]), .P31(product[31]), .P32(product[32]),
      .P33(product[33]), .P34(product[34]), .P35(product[35])
  );
endmodule
