// The multicast network: one packet per cycle from one of Sources FIFOs to every
// destination of its mask. Granted in t, in the last broadcast register, which the
// destinations write from, in t + NetHop - 1. The heads of all FIFOs are registered in
// t+1, so that the grant selects one of them a cycle after it is decided. With two
// stages it selects one of the heads themselves; with more than three, more registers
// carry the packet to far destinations.
`include "assert.svh"

module network #(
    parameter int unsigned Sources  = 3,    // the cores, then the host's input
    parameter int unsigned Lanes    = 8,
    parameter int unsigned NetHop   = isa_pkg::NetHopDefault,
    localparam int unsigned RowBits = Lanes * 16
) (
    input  logic                                     clk_i,
    input  logic                                     rst_i,
    input  logic                                     start_i,
    input  logic [Sources-1:0]                       valid_i,
    input  logic [Sources*machine_pkg::PacketBits-1:0] packet_i,
    input  logic [Sources*RowBits-1:0]               row_i,
    output logic [Sources-1:0]                       pop_o,
    input  logic                                     host_free_i,   // the host has room for a row
    output logic                                     host_grant_o,  // a row for the host leaves
    output logic                                     valid_o,
    output machine_pkg::packet_t                     packet_o,
    output logic [RowBits-1:0]                       row_o,
    // counters of every source
    input  logic                                     readback_clk_i,
    input  logic [2:0]                               readback_state_i,
    output logic [Sources*machine_pkg::CounterBits-1:0] count_o
);
  `SLUICE_REQUIRE(NetHop >= isa_pkg::NetHopLeast && NetHop <= isa_pkg::NetHopMost)

  logic [Sources-1:0] host_data, request;

  machine_pkg::packet_t head;  // of one source; in the loop it would be nothing to yosys

  always_comb begin
    for (int s = 0; s < Sources; s++) begin
      head         = packet_i[s*machine_pkg::PacketBits+:machine_pkg::PacketBits];
      host_data[s] = head.data && head.mask[isa_pkg::HostBit];
      request[s]   = valid_i[s] && (host_free_i || !host_data[s]);
    end
  end

  arbiter #(
      .Requesters(Sources)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .request_i(request),
      .grant_o  (pop_o)
  );

  for (genvar s = 0; s < Sources; s++) begin : gen_counters
    logic [2:0] state;
    assign state = !valid_i[s] ? machine_pkg::StateIdle
                 : pop_o[s]    ? machine_pkg::StateBusy
                 : request[s]  ? machine_pkg::NetworkOtherGranted : machine_pkg::NetworkHostFull;

    unit_counters u_counters (
        .clk_i,
        .rst_i,
        .start_i,
        .state_i         (state),
        .readback_clk_i,
        .readback_state_i,
        .readback_count_o(count_o[s*machine_pkg::CounterBits+:machine_pkg::CounterBits])
    );
  end

  assign host_grant_o = (pop_o & host_data) != '0;

  // ---- the packet that is granted, from registers or from the heads ----------------
  logic [Sources*machine_pkg::PacketBits-1:0] packets;
  logic [Sources*RowBits-1:0] rows;
  logic [Sources-1:0] grant;
  logic               valid;
  logic [machine_pkg::PacketBits-1:0] packet;
  logic [RowBits-1:0] row;

  if (NetHop > 2) begin : gen_heads
    logic [Sources*machine_pkg::PacketBits-1:0] packets_q;
    logic [Sources*RowBits-1:0] rows_q;
    logic [Sources-1:0] grant_q;
    logic               valid_q;

    always_ff @(posedge clk_i) begin
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= request != '0;
    end
    always_ff @(posedge clk_i) begin
      grant_q <= pop_o;
      for (int s = 0; s < Sources; s++) begin
        if (valid_i[s]) begin
          packets_q[s*machine_pkg::PacketBits+:machine_pkg::PacketBits] <=
              packet_i[s*machine_pkg::PacketBits+:machine_pkg::PacketBits];
          rows_q[s*RowBits+:RowBits] <= row_i[s*RowBits+:RowBits];
        end
      end
    end
    assign packets = packets_q;
    assign rows    = rows_q;
    assign grant   = grant_q;
    assign valid   = valid_q;
  end else begin : gen_no_heads
    assign packets = packet_i;
    assign rows    = row_i;
    assign grant   = pop_o;
    assign valid   = request != '0;
  end

  always_comb begin
    packet = '0;
    row    = '0;
    for (int s = 0; s < Sources; s++) begin
      if (grant[s]) begin
        packet = packet | packets[s*machine_pkg::PacketBits+:machine_pkg::PacketBits];
        row    = row | rows[s*RowBits+:RowBits];
      end
    end
  end

  // ---- broadcast registers ---------------------------------------------------------
  localparam int unsigned Broadcasts = NetHop > 3 ? NetHop - 2 : 1;

  logic [Broadcasts:0]                                 valids;  // [k]: behind register k
  logic [(Broadcasts+1)*machine_pkg::PacketBits-1:0]   moving;
  logic [(Broadcasts+1)*RowBits-1:0]                   moving_row;

  assign valids[0]                            = valid;
  assign moving[machine_pkg::PacketBits-1:0]  = packet;
  assign moving_row[RowBits-1:0]              = row;

  for (genvar k = 0; k < Broadcasts; k++) begin : gen_broadcast
    logic                               valid_q;
    logic [machine_pkg::PacketBits-1:0] packet_q;
    logic [RowBits-1:0]                 row_q;

    always_ff @(posedge clk_i) begin
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= valids[k];
    end
    always_ff @(posedge clk_i) begin
      if (valids[k]) begin
        packet_q <= moving[k*machine_pkg::PacketBits+:machine_pkg::PacketBits];
        row_q    <= moving_row[k*RowBits+:RowBits];
      end
    end
    assign valids[k+1] = valid_q;
    assign moving[(k+1)*machine_pkg::PacketBits+:machine_pkg::PacketBits] = packet_q;
    assign moving_row[(k+1)*RowBits+:RowBits] = row_q;
  end
  assign valid_o  = valids[Broadcasts];
  assign packet_o = moving[Broadcasts*machine_pkg::PacketBits+:machine_pkg::PacketBits];
  assign row_o    = moving_row[Broadcasts*RowBits+:RowBits];

  // A packet goes somewhere, and nowhere that is not there.
  localparam logic [isa_pkg::HostBit:0] Places =
      (isa_pkg::HostBit + 1)'((1 << isa_pkg::HostBit) + (1 << (Sources - 1)) - 1);
  `SLUICE_ASSERT(!valid_o || (packet_o.mask != '0 && (packet_o.mask & ~Places) == '0))
endmodule
