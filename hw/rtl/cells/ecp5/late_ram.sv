// Block RAMs of an ECP5 part with their output registers, side by side: the same function as
// hw/rtl/cells/late_ram.sv. Each port that reads has its own copy.
`include "assert.svh"

module late_ram #(
    parameter int unsigned Width     = 16,
    parameter int unsigned Rows      = 512,
    parameter int unsigned Ports     = 1,
    localparam int unsigned AddrBits = $clog2(Rows)
) (
    input  logic                      clk_i,
    input  logic                      write_i,
    input  logic [AddrBits-1:0]       write_addr_i,
    input  logic [Width-1:0]          write_data_i,
    input  logic                      read_i,
    input  logic [Ports*AddrBits-1:0] read_addr_i,
    input  logic                      keep_i,
    output logic [Ports*Width-1:0]    read_data_o
);
  // As wide as a block RAM is with so many rows.
  localparam int unsigned SliceBits = AddrBits <= 10 ? 18 : AddrBits == 11 ? 9 : 1 << (14 - AddrBits);
  localparam int unsigned Slices    = (Width + SliceBits - 1) / SliceBits;

  `SLUICE_REQUIRE(AddrBits <= 14)

  logic [Slices*SliceBits-1:0] data;
  assign data = (Slices * SliceBits)'(write_data_i);

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic [Slices*SliceBits-1:0] row;

    for (genvar s = 0; s < Slices; s++) begin : gen_slice
      ram_slice #(
          .AddrBits(AddrBits),
          .Width   (SliceBits)
      ) u_slice (
          .clk_i,
          .write_i,
          .write_addr_i,
          .write_data_i(data[s*SliceBits+:SliceBits]),
          .read_i,
          .read_addr_i (read_addr_i[p*AddrBits+:AddrBits]),
          .keep_i,
          .read_data_o (row[s*SliceBits+:SliceBits])
      );
    end
    assign read_data_o[p*Width+:Width] = row[Width-1:0];
  end
endmodule
