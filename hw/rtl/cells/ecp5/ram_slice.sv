// One block RAM of an ECP5 part as a memory of 2^AddrBits rows, as wide as it is then, with its
// output register: port A writes, port B reads.
`include "assert.svh"

module ram_slice #(
    parameter int unsigned AddrBits = 14,
    parameter int unsigned Width    = 1  // 1, 2, 4, 9 or 18 bits of 2^14, 2^13, 2^12, 2^11, 2^10 rows
) (
    input  logic                clk_i,
    input  logic                write_i,
    input  logic [AddrBits-1:0] write_addr_i,
    input  logic [Width-1:0]    write_data_i,
    input  logic                read_i,
    input  logic [AddrBits-1:0] read_addr_i,
    input  logic                keep_i,
    output logic [Width-1:0]    read_data_o
);
  // The lowest bits of a place count bits of a row. In rows of 18 bits, two of them enable the
  // write of a half each.
  localparam int unsigned Skip = Width == 18 ? 4 : Width == 9 ? 3 : $clog2(Width);

  logic [13:0] write_place, read_place;
  logic [17:0] data, row;

  assign write_place = 14'(write_addr_i) << Skip | (Width == 18 ? 14'b11 : 14'b0);
  assign read_place  = 14'(read_addr_i) << Skip;
  assign data        = 18'(write_data_i);
  assign read_data_o = row[Width-1:0];

  DP16KD #(
      .DATA_WIDTH_A(Width),
      .DATA_WIDTH_B(Width),
      .REGMODE_A   ("NOREG"),
      .REGMODE_B   ("OUTREG"),
      .RESETMODE   ("SYNC"),
      .GSR         ("DISABLED")
  ) u_cell (
      .ADA0(write_place[0]), .ADA1(write_place[1]), .ADA2(write_place[2]),
      .ADA3(write_place[3]), .ADA4(write_place[4]), .ADA5(write_place[5]),
      .ADA6(write_place[6]), .ADA7(write_place[7]), .ADA8(write_place[8]),
      .ADA9(write_place[9]), .ADA10(write_place[10]), .ADA11(write_place[11]),
      .ADA12(write_place[12]), .ADA13(write_place[13]), .ADB0(read_place[0]),
      .ADB1(read_place[1]), .ADB2(read_place[2]), .ADB3(read_place[3]), .ADB4(read_place[4]),
      .ADB5(read_place[5]), .ADB6(read_place[6]), .ADB7(read_place[7]), .ADB8(read_place[8]),
      .ADB9(read_place[9]), .ADB10(read_place[10]), .ADB11(read_place[11]),
      .ADB12(read_place[12]), .ADB13(read_place[13]), .DIA0(data[0]), .DIA1(data[1]),
      .DIA2(data[2]), .DIA3(data[3]), .DIA4(data[4]), .DIA5(data[5]), .DIA6(data[6]),
      .DIA7(data[7]), .DIA8(data[8]), .DIA9(data[9]), .DIA10(data[10]), .DIA11(data[11]),
      .DIA12(data[12]), .DIA13(data[13]), .DIA14(data[14]), .DIA15(data[15]), .DIA16(data[16]),
      .DIA17(data[17]), .DIB0(1'b0), .DIB1(1'b0), .DIB2(1'b0), .DIB3(1'b0), .DIB4(1'b0),
      .DIB5(1'b0), .DIB6(1'b0), .DIB7(1'b0), .DIB8(1'b0), .DIB9(1'b0), .DIB10(1'b0),
      .DIB11(1'b0), .DIB12(1'b0), .DIB13(1'b0), .DIB14(1'b0), .DIB15(1'b0), .DIB16(1'b0),
      .DIB17(1'b0), .CLKA(clk_i), .CEA(write_i), .WEA(write_i), .OCEA(1'b0), .RSTA(1'b0),
      .CSA0(1'b0), .CSA1(1'b0), .CSA2(1'b0), .CLKB(clk_i), .CEB(read_i), .WEB(1'b0),
      .OCEB(keep_i), .RSTB(1'b0), .CSB0(1'b0), .CSB1(1'b0), .CSB2(1'b0), .DOB0(row[0]),
      .DOB1(row[1]), .DOB2(row[2]), .DOB3(row[3]), .DOB4(row[4]), .DOB5(row[5]), .DOB6(row[6]),
      .DOB7(row[7]), .DOB8(row[8]), .DOB9(row[9]), .DOB10(row[10]), .DOB11(row[11]),
      .DOB12(row[12]), .DOB13(row[13]), .DOB14(row[14]), .DOB15(row[15]), .DOB16(row[16]),
      .DOB17(row[17])
  );
endmodule
