// The core's tensor rows: an inbox written by the network and a local part
// written by the vector unit, both seen by four read ports. A read shows the row as
// it was before what is written in the same cycle. Every read port, and the
// readback, is a copy in block RAM with its output register.
`include "assert.svh"

module tensor_ram #(
    parameter int unsigned Lanes     = 8,
    parameter int unsigned InboxRows = 1024,
    parameter int unsigned LocalRows = 256,
    parameter bit Readback           = 1'b1,  // else readback_row_o is zero
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
    logic               local_q;
    logic [RowBits-1:0] inbox_row_q, local_row_q;
    always_ff @(posedge clk_i) begin
      if (read_i[p]) begin
        local_q <= read_addr_i[p*16+15];
        if (read_addr_i[p*16+15]) local_row_q <= local_rows[read_addr_i[p*16+:LocalBits]];
        else inbox_row_q <= inbox[read_addr_i[p*16+:InboxBits]];
      end
    end
    assign read_row_o[p*RowBits+:RowBits] = local_q ? local_row_q : inbox_row_q;

    `SLUICE_ASSERT(!read_i[p] || {1'b0, read_addr_i[p*16+:15]} <
                                 (read_addr_i[p*16+15] ? 16'(LocalRows) : 16'(InboxRows)))
  end

  if (Readback) begin : gen_readback
    logic               local_q;
    logic [RowBits-1:0] inbox_row_q, local_row_q;
    always_ff @(posedge readback_clk_i) begin
      local_q     <= readback_addr_i[15];
      local_row_q <= local_rows[readback_addr_i[LocalBits-1:0]];
      inbox_row_q <= inbox[readback_addr_i[InboxBits-1:0]];
    end
    assign readback_row_o = local_q ? local_row_q : inbox_row_q;
  end else begin : gen_no_readback
    logic unused;
    assign unused         = ^{readback_clk_i, readback_addr_i};
    assign readback_row_o = '0;
  end

  `SLUICE_ASSERT(!inbox_write_i || inbox_addr_i < 16'(InboxRows))
  `SLUICE_ASSERT(!local_write_i || (local_addr_i[15] && {1'b0, local_addr_i[14:0]} < 16'(LocalRows)))
endmodule
