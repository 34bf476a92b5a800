// Accumulator rows at rest: written by the configuration port (a quarter of every
// lane at a time) and by raw emits, read for init preload.
`include "assert.svh"

module preload_ram #(
    parameter int unsigned Lanes    = 8,
    parameter int unsigned Rows     = 256,
    localparam int unsigned AddrBits = $clog2(Rows),
    localparam int unsigned LaneBits = isa_pkg::AnchorBits + isa_pkg::AccBits + 1,
    localparam int unsigned RowBits  = Lanes * 16
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      cfg_write_i,  // address: row * 4 + quarter
    input  logic [15:0]               cfg_addr_i,
    input  logic [RowBits-1:0]        cfg_data_i,
    input  logic                      write_i,
    input  logic [11:0]               write_row_i,
    input  logic [Lanes*LaneBits-1:0] write_data_i, // lane: {poison, anchor, integer}
    input  logic                      read_i,
    input  logic [11:0]               read_row_i,
    output logic [Lanes*LaneBits-1:0] read_data_o   // registered
);
  // Quarter q of every lane; the last one has the few bits that remain.
  for (genvar q = 0; q < 4; q++) begin : gen_quarter
    localparam int unsigned Bits = q == 3 ? LaneBits - 48 : 16;

    logic [Lanes*Bits-1:0] data, read_q, unused_watch;
    logic [AddrBits-1:0]   addr;
    logic                  cfg;

    assign cfg  = cfg_write_i && cfg_addr_i[1:0] == 2'(q);
    assign addr = cfg_write_i ? cfg_addr_i[2+:AddrBits] : write_row_i[AddrBits-1:0];

    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      assign data[i*Bits+:Bits] = cfg_write_i ? cfg_data_i[i*16+:Bits]
                                              : write_data_i[i*LaneBits+q*16+:Bits];
      assign read_data_o[i*LaneBits+q*16+:Bits] = read_q[i*Bits+:Bits];
    end

    block_ram #(
        .Width(Lanes * Bits),
        .Rows (Rows)
    ) u_rows (
        .clk_i,
        .write_i     (cfg || write_i),
        .write_addr_i(addr),
        .write_data_i(data),
        .read_i,
        .clear_i     (1'b0),
        .read_addr_i (read_row_i[AddrBits-1:0]),
        .read_data_o (read_q),
        .watch_clk_i (1'b0),
        .watch_addr_i('0),
        .watch_data_o(unused_watch)
    );
  end

  `SLUICE_ASSERT(!cfg_write_i || {1'b0, cfg_addr_i} < 17'(Rows * 4))
  `SLUICE_ASSERT(!write_i || {1'b0, write_row_i} < 13'(Rows))
  `SLUICE_ASSERT(!read_i || {1'b0, read_row_i} < 13'(Rows))
endmodule
