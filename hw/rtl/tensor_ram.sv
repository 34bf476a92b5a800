// The core's tensor rows: an inbox written by the network and a local part
// written by the vector unit, both seen by four read ports. A read port holds its
// address in a register; the row follows combinationally, for the reader's output
// register.
`include "assert.svh"

module tensor_ram #(
    parameter int unsigned Lanes     = 8,
    parameter int unsigned InboxRows = 1024,
    parameter int unsigned LocalRows = 256,
    localparam int unsigned RowBits  = Lanes * 16
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [3:0]         read_i,
    input  logic [63:0]        read_addr_i,  // four of 16 bits
    output logic [4*RowBits-1:0] read_row_o, // in the next cycle
    input  logic               inbox_write_i,
    input  logic [15:0]        inbox_addr_i,
    input  logic [RowBits-1:0] inbox_row_i,
    input  logic               local_write_i,
    input  logic [15:0]        local_addr_i, // tensor address
    input  logic [RowBits-1:0] local_row_i,
    // readback while the machine's clock rests
    input  logic               readback_clk_i,
    input  logic [15:0]        readback_addr_i,
    output logic [RowBits-1:0] readback_row_o
);
  `SLUICE_REQUIRE(InboxRows >= 2 && InboxRows <= isa_pkg::LocalBase)
  `SLUICE_REQUIRE(LocalRows >= 2 && LocalRows <= isa_pkg::LocalBase)

  localparam int unsigned InboxBits = $clog2(InboxRows);
  localparam int unsigned LocalBits = $clog2(LocalRows);

  logic [RowBits-1:0] inbox[InboxRows];
  logic [RowBits-1:0] local_rows[LocalRows];

  always_ff @(posedge clk_i) begin
    if (inbox_write_i) inbox[inbox_addr_i[InboxBits-1:0]] <= inbox_row_i;
    if (local_write_i) local_rows[local_addr_i[LocalBits-1:0]] <= local_row_i;
  end

  for (genvar p = 0; p < 4; p++) begin : gen_port
    logic [15:0] addr_q;
    always_ff @(posedge clk_i) begin
      if (read_i[p]) addr_q <= read_addr_i[p*16+:16];
    end
    assign read_row_o[p*RowBits+:RowBits] =
        addr_q[15] ? local_rows[addr_q[LocalBits-1:0]] : inbox[addr_q[InboxBits-1:0]];

    `SLUICE_ASSERT(!read_i[p] || {1'b0, read_addr_i[p*16+:15]} <
                                 (read_addr_i[p*16+15] ? 16'(LocalRows) : 16'(InboxRows)))
  end

  always_ff @(posedge readback_clk_i) begin
    readback_row_o <= readback_addr_i[15] ? local_rows[readback_addr_i[LocalBits-1:0]]
                                          : inbox[readback_addr_i[InboxBits-1:0]];
  end

  `SLUICE_ASSERT(!inbox_write_i || inbox_addr_i < 16'(InboxRows))
  `SLUICE_ASSERT(!local_write_i || (local_addr_i[15] && {1'b0, local_addr_i[14:0]} < 16'(LocalRows)))
endmodule
