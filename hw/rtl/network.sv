// The multicast network: one packet per cycle from one of Sources FIFOs to every
// destination of its mask. Granted in t, in the broadcast register, which the
// destinations write from, in t+2. The heads of all FIFOs are registered in t+1, so
// that the grant selects one of them a cycle after it is decided.
`include "assert.svh"

module network #(
    parameter int unsigned Sources  = 3,    // the cores, then the host's input
    parameter int unsigned Lanes    = 8,
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

  logic [Sources*machine_pkg::PacketBits-1:0] packets_q;
  logic [Sources*RowBits-1:0] rows_q;
  logic [Sources-1:0] grant_q;
  logic               valid_q;
  logic [machine_pkg::PacketBits-1:0] packet;
  logic [RowBits-1:0] row;

  always_comb begin
    packet = '0;
    row    = '0;
    for (int s = 0; s < Sources; s++) begin
      if (grant_q[s]) begin
        packet = packet | packets_q[s*machine_pkg::PacketBits+:machine_pkg::PacketBits];
        row    = row | rows_q[s*RowBits+:RowBits];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      valid_q <= request != '0;
      valid_o <= valid_q;
    end
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
    if (valid_q) begin
      packet_o <= packet;
      row_o    <= row;
    end
  end

  // A packet goes somewhere, and nowhere that is not there.
  localparam logic [isa_pkg::HostBit:0] Places =
      (isa_pkg::HostBit + 1)'((1 << isa_pkg::HostBit) + (1 << (Sources - 1)) - 1);
  `SLUICE_ASSERT(!valid_o || (packet_o.mask != '0 && (packet_o.mask & ~Places) == '0))
endmodule
