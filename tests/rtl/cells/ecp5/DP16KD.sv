// The block RAM of an ECP5 part as its manual describes it, with equal widths at both ports, each
// with its clock enable, write enable and output register. Only for simulation.
module DP16KD #(
    parameter int unsigned DATA_WIDTH_A = 18,
    parameter int unsigned DATA_WIDTH_B = 18,
    parameter string REGMODE_A          = "NOREG",
    parameter string REGMODE_B          = "NOREG",
    parameter string RESETMODE          = "SYNC",
    parameter string GSR                = "ENABLED"
) (
    input logic
      ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13,
      ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13,
    input logic
      DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13,
      DIA14, DIA15, DIA16, DIA17, DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9,
      DIB10, DIB11, DIB12, DIB13, DIB14, DIB15, DIB16, DIB17,
    input logic
      CLKA, CEA, WEA, OCEA, RSTA, CSA0, CSA1, CSA2, CLKB, CEB, WEB, OCEB, RSTB, CSB0, CSB1, CSB2,
    output logic
      DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13,
      DOB14, DOB15, DOB16, DOB17
);
  localparam int unsigned Width = DATA_WIDTH_A;
  localparam int unsigned Skip  = Width == 18 ? 4 : Width == 9 ? 3 : $clog2(Width);

  if (DATA_WIDTH_B != Width || REGMODE_A != "NOREG" || RESETMODE != "SYNC") $error("not described here");

  logic [17:0] mem[1<<(14-Skip)];
  logic [13:0] write_place, read_place;
  logic [17:0] data, row_q, late_q;

  assign write_place = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign read_place = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  assign data = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0};

  // With 18 bits the lowest bits of the place enable the write of the halves.
  always_ff @(posedge CLKA) begin
    if (CEA && WEA && {CSA2, CSA1, CSA0} == '0) begin
      if (Width != 18) mem[write_place[13:Skip]] <= data;
      else begin
        if (write_place[0]) mem[write_place[13:Skip]][8:0] <= data[8:0];
        if (write_place[1]) mem[write_place[13:Skip]][17:9] <= data[17:9];
      end
    end
  end

  // What a read returns that meets a write of its row is not known: here all ones.
  always_ff @(posedge CLKB) begin
    if (CEB && {CSB2, CSB1, CSB0} == '0) begin
      if (CEA && WEA && write_place[13:Skip] == read_place[13:Skip]) row_q <= '1;
      else row_q <= mem[read_place[13:Skip]];
    end
    if (OCEB) late_q <= RSTB ? '0 : row_q;
  end

  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0} =
      REGMODE_B == "OUTREG" ? late_q : row_q;
endmodule
