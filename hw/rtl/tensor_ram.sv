// The core's tensor rows: an inbox written by the network and a local part
// written by the vector unit, both seen by four read ports. A read shows the row as
// it was before what is written in the same cycle. Every read port, and the
// readback, is a copy in block RAM with its output register. The RAM keeps a mark with
// every lane that is zero or denormal as bf16: data leaves a RAM late, and its reader has
// no time to compare exponents. The bit is free, since parts have RAMs of 9, 18, 36 bits.
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
    output logic [3*Lanes-1:0] read_tiny_o,  // with it, of ports 1 to 3: lanes that are zero or denormal
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
  localparam int unsigned StoredBits = RowBits + Lanes;  // the marks above the row

  function automatic logic [StoredBits-1:0] marked(input logic [RowBits-1:0] row);
    for (int unsigned i = 0; i < Lanes; i++) marked[RowBits+i] = row[i*16+7+:8] == '0;
    marked[RowBits-1:0] = row;
  endfunction

  // ---- writes: in the RAM a cycle later -------------------------------------------------
  logic                 inbox_q, local_q;
  logic [InboxBits-1:0] inbox_addr_q;
  logic [LocalBits-1:0] local_addr_q;
  logic [RowBits-1:0]   inbox_row_q, local_row_q;
  logic [StoredBits-1:0] inbox_stored, local_stored;

  assign inbox_stored = marked(inbox_row_q);
  assign local_stored = marked(local_row_q);

  always_ff @(posedge clk_i) begin
    inbox_q <= inbox_write_i;
    local_q <= local_write_i;
    if (inbox_write_i) begin
      inbox_addr_q <= inbox_addr_i[InboxBits-1:0];
      inbox_row_q  <= inbox_row_i;
    end
    if (local_write_i) begin
      local_addr_q <= local_addr_i[LocalBits-1:0];
      local_row_q  <= local_row_i;
    end
  end
  // ---- reads: of four sources, three are zero -------------------------------------------
  // Where a read meets a write of its row, the RAM clears its output.
  logic [3:0]              clear_inbox, clear_local;
  logic [4*InboxBits-1:0]  inbox_addrs;
  logic [4*LocalBits-1:0]  local_addrs;
  logic [4*StoredBits-1:0] stored_inbox_q, stored_local_q;
  logic [StoredBits-1:0]   watched_inbox, watched_local;

  block_ram #(
      .Width  (StoredBits),
      .Rows   (InboxRows),
      .Ports  (4),
      .Watched(Readback)
  ) u_inbox (
      .clk_i,
      .write_i     (inbox_q),
      .write_addr_i(inbox_addr_q),
      .write_data_i(inbox_stored),
      .read_i,
      .clear_i     (clear_inbox),
      .read_addr_i (inbox_addrs),
      .read_data_o (stored_inbox_q),
      .watch_clk_i (readback_clk_i),
      .watch_addr_i(readback_addr_i[InboxBits-1:0]),
      .watch_data_o(watched_inbox)
  );
  block_ram #(
      .Width  (StoredBits),
      .Rows   (LocalRows),
      .Ports  (4),
      .Watched(Readback)
  ) u_local (
      .clk_i,
      .write_i     (local_q),
      .write_addr_i(local_addr_q),
      .write_data_i(local_stored),
      .read_i,
      .clear_i     (clear_local),
      .read_addr_i (local_addrs),
      .read_data_o (stored_local_q),
      .watch_clk_i (readback_clk_i),
      .watch_addr_i(readback_addr_i[LocalBits-1:0]),
      .watch_data_o(watched_local)
  );

  for (genvar p = 0; p < 4; p++) begin : gen_port
    logic                 is_local, meets_inbox, meets_local;
    logic [InboxBits-1:0] inbox_addr;
    logic [LocalBits-1:0] local_addr;
    logic [StoredBits-1:0] stored, late_inbox_q, late_local_q;

    assign is_local    = read_addr_i[p*16+15];
    assign inbox_addr  = read_addr_i[p*16+:InboxBits];
    assign local_addr  = read_addr_i[p*16+:LocalBits];
    assign meets_inbox = inbox_q && !is_local && inbox_addr == inbox_addr_q;
    assign meets_local = local_q && is_local && local_addr == local_addr_q;

    assign clear_inbox[p] = is_local || meets_inbox;
    assign clear_local[p] = !is_local || meets_local;
    assign inbox_addrs[p*InboxBits+:InboxBits] = inbox_addr;
    assign local_addrs[p*LocalBits+:LocalBits] = local_addr;

    always_ff @(posedge clk_i) begin
      if (read_i[p]) begin
        late_inbox_q <= meets_inbox ? inbox_stored : '0;
        late_local_q <= meets_local ? local_stored : '0;
      end
    end

    assign stored = stored_inbox_q[p*StoredBits+:StoredBits] |
                    stored_local_q[p*StoredBits+:StoredBits] | late_inbox_q | late_local_q;
    assign read_row_o[p*RowBits+:RowBits] = stored[RowBits-1:0];
    if (p > 0) begin : gen_tiny
      assign read_tiny_o[(p-1)*Lanes+:Lanes] = stored[RowBits+:Lanes];
    end else begin : gen_no_tiny
      logic unused;
      assign unused = ^stored[RowBits+:Lanes];
    end

    `SLUICE_ASSERT(!read_i[p] || {1'b0, read_addr_i[p*16+:15]} <
                                 (read_addr_i[p*16+15] ? 16'(LocalRows) : 16'(InboxRows)))
  end

  if (Readback) begin : gen_readback
    // A row on its way to the RAM counts as written.
    logic               is_local_q, late_q;
    logic [RowBits-1:0] late_row_q, watched;
    always_ff @(posedge readback_clk_i) begin
      is_local_q <= readback_addr_i[15];
      if (readback_addr_i[15]) begin
        late_q     <= local_q && readback_addr_i[LocalBits-1:0] == local_addr_q;
        late_row_q <= local_row_q;
      end else begin
        late_q     <= inbox_q && readback_addr_i[InboxBits-1:0] == inbox_addr_q;
        late_row_q <= inbox_row_q;
      end
    end
    assign watched        = is_local_q ? watched_local[RowBits-1:0] : watched_inbox[RowBits-1:0];
    assign readback_row_o = late_q ? late_row_q : watched;
  end else begin : gen_no_readback
    logic unused;
    assign unused         = ^{readback_clk_i, readback_addr_i};
    assign readback_row_o = '0;
  end

  `SLUICE_ASSERT(!inbox_write_i || inbox_addr_i < 16'(InboxRows))
  `SLUICE_ASSERT(!local_write_i || (local_addr_i[15] && {1'b0, local_addr_i[14:0]} < 16'(LocalRows)))
endmodule
