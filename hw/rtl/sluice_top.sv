// The accelerator: cores, network, host port.
//
// The configuration port writes memories while no sequencer runs: cfg_mask_i names
// the cores, and bit Cores the host port. After start_i all sequencers begin at their
// entries. The readback port has its own clock and looks at the machine while
// clk_i rests: a tensor row, a unit's status and one of its counters.
`include "assert.svh"

module sluice_top #(
    parameter int unsigned Cores            = 2,
    parameter int unsigned Lanes            = 8,
    parameter int unsigned PeTerms          = 4,
    parameter int unsigned WeightBlocks     = 2048,
    parameter int unsigned InboxRows        = 1024,
    parameter int unsigned LocalRows        = 256,
    parameter int unsigned Accumulators     = 32,
    parameter int unsigned PreloadRows      = 256,
    parameter int unsigned Instructions     = 512,
    parameter int unsigned HostInstructions = 32,
    parameter int unsigned Tables           = 4,
    parameter int unsigned MmFanout         = isa_pkg::MmFanoutDefault,  // stages
    parameter int unsigned MmNormalise      = isa_pkg::MmNormaliseDefault,
    parameter int unsigned VecAlu           = isa_pkg::VecAluDefault,
    parameter int unsigned VecTable         = isa_pkg::VecTableDefault,
    parameter int unsigned VecOut           = isa_pkg::VecOutDefault,
    parameter int unsigned NetHop           = isa_pkg::NetHopDefault,
    parameter bit Readback                  = 1'b1,  // of tensor rows, else they read as zero
    localparam int unsigned RowBits         = Lanes * 16
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    input  logic                                start_i,
    // configuration
    input  logic                                cfg_valid_i,
    input  logic [isa_pkg::MaxCores:0]          cfg_mask_i,
    input  logic [2:0]                          cfg_memory_i,
    input  logic [machine_pkg::CfgAddrBits-1:0] cfg_addr_i,
    input  logic [RowBits-1:0]                  cfg_data_i,
    // rows
    input  logic                                in_valid_i,
    output logic                                in_ready_o,
    input  logic [RowBits-1:0]                  in_row_i,
    output logic                                out_valid_o,
    input  logic                                out_ready_i,
    output logic [RowBits-1:0]                  out_row_o,
    output logic [17:0]                         out_addr_o,
    // for watching
    output logic                                progress_o,   // in the previous cycle
    output logic                                fault_o,      // a token passed its maximum
    input  logic                                readback_clk_i,
    input  logic [3:0]                          readback_core_i,
    input  logic [1:0]                          readback_unit_i,    // 0 matrix, 1 vector, 2 sequencer, 3 network
    input  logic [2:0]                          readback_state_i,   // which of its counters
    input  logic [15:0]                         readback_addr_i,
    output logic [RowBits-1:0]                  readback_row_o,
    output logic [machine_pkg::StatusBits-1:0]  readback_status_o,  // core = Cores: the input unit's
    output logic [machine_pkg::CounterBits-1:0] readback_count_o    // cycles since the start
);
  `SLUICE_REQUIRE(Cores >= 1 && Cores <= isa_pkg::MaxCores)

  localparam int unsigned Packet = machine_pkg::PacketBits;
  localparam int unsigned Status = machine_pkg::StatusBits;
  localparam int unsigned Count = machine_pkg::CounterBits;
  localparam int unsigned Sources = Cores + 1;

  // Configuration is registered once for its long way.
  logic                                cfg_valid_q;
  logic [isa_pkg::MaxCores:0]          cfg_mask_q;
  logic [2:0]                          cfg_memory_q;
  logic [machine_pkg::CfgAddrBits-1:0] cfg_addr_q;
  logic [RowBits-1:0]                  cfg_data_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) cfg_valid_q <= 1'b0;
    else cfg_valid_q <= cfg_valid_i;
    if (cfg_valid_i) begin
      cfg_mask_q   <= cfg_mask_i;
      cfg_memory_q <= cfg_memory_i;
      cfg_addr_q   <= cfg_addr_i;
      cfg_data_q   <= cfg_data_i;
    end
  end

  logic [Sources-1:0]         packet_valid, packet_pop;
  logic [Sources*Packet-1:0]  packet;
  logic [Sources*RowBits-1:0] packet_row;
  logic                       host_free, host_grant, net_valid;
  machine_pkg::packet_t       net_packet;
  logic [RowBits-1:0]         net_row;
  logic [Sources-1:0]         progress, fault;
  logic [Cores*RowBits-1:0]   readback_row;
  logic [2*Sources*Status-1:0] readback_status;  // matrix and vector unit of every source
  logic [4*Sources*Count-1:0] readback_count;   // units in the order of readback_unit_i
  logic [Sources*Count-1:0]   network_count;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    core #(
        .Lanes       (Lanes),
        .PeTerms     (PeTerms),
        .WeightBlocks(WeightBlocks),
        .InboxRows   (InboxRows),
        .LocalRows   (LocalRows),
        .Accumulators(Accumulators),
        .PreloadRows (PreloadRows),
        .Instructions(Instructions),
        .Tables      (Tables),
        .MmFanout    (MmFanout),
        .MmNormalise (MmNormalise),
        .VecAlu      (VecAlu),
        .VecTable    (VecTable),
        .VecOut      (VecOut),
        .Readback    (Readback)
    ) u_core (
        .clk_i,
        .rst_i,
        .start_i,
        .cfg_valid_i      (cfg_valid_q && cfg_mask_q[c]),
        .cfg_memory_i     (cfg_memory_q),
        .cfg_addr_i       (cfg_addr_q),
        .cfg_data_i       (cfg_data_q),
        .net_valid_i      (net_valid && net_packet.mask[c]),
        .net_packet_i     (net_packet),
        .net_row_i        (net_row),
        .packet_valid_o   (packet_valid[c]),
        .packet_o         (packet[c*Packet+:Packet]),
        .packet_row_o     (packet_row[c*RowBits+:RowBits]),
        .packet_pop_i     (packet_pop[c]),
        .progress_o       (progress[c]),
        .fault_o          (fault[c]),
        .readback_clk_i,
        .readback_addr_i,
        .readback_row_o   (readback_row[c*RowBits+:RowBits]),
        .readback_matrix_o(readback_status[2*c*Status+:Status]),
        .readback_vector_o(readback_status[(2*c+1)*Status+:Status]),
        .readback_state_i,
        .matrix_count_o   (readback_count[4*c*Count+:Count]),
        .vector_count_o   (readback_count[(4*c+1)*Count+:Count]),
        .sequencer_count_o(readback_count[(4*c+2)*Count+:Count])
    );
  end

  logic [Status-1:0] host_status;

  host_port #(
      .Lanes       (Lanes),
      .Instructions(HostInstructions)
  ) u_host (
      .clk_i,
      .rst_i,
      .start_i,
      .cfg_write_i (cfg_valid_q && cfg_mask_q[Cores] && cfg_memory_q == machine_pkg::CfgInstruction),
      .cfg_entry_i (cfg_valid_q && cfg_mask_q[Cores] && cfg_memory_q == machine_pkg::CfgEntry),
      .cfg_addr_i  (cfg_addr_q[15:0]),
      .cfg_data_i  (cfg_data_q),
      .in_valid_i,
      .in_ready_o,
      .in_row_i,
      .out_valid_o,
      .out_ready_i,
      .out_row_o,
      .out_addr_o,
      .valid_o     (packet_valid[Cores]),
      .packet_o    (packet[Cores*Packet+:Packet]),
      .row_o       (packet_row[Cores*RowBits+:RowBits]),
      .pop_i       (packet_pop[Cores]),
      .free_o      (host_free),
      .grant_i     (host_grant),
      .net_valid_i (net_valid && net_packet.mask[isa_pkg::HostBit]),
      .net_packet_i(net_packet),
      .net_row_i   (net_row),
      .progress_o  (progress[Cores]),
      .fault_o     (fault[Cores]),
      .readback_clk_i,
      .readback_state_i,
      .status_o    (host_status),
      .input_count_o    (readback_count[4*Cores*Count+:Count]),
      .sequencer_count_o(readback_count[(4*Cores+2)*Count+:Count])
  );

  network #(
      .Sources(Sources),
      .Lanes  (Lanes),
      .NetHop (NetHop)
  ) u_network (
      .clk_i,
      .rst_i,
      .start_i,
      .valid_i     (packet_valid),
      .packet_i    (packet),
      .row_i       (packet_row),
      .pop_o       (packet_pop),
      .host_free_i (host_free),
      .host_grant_o(host_grant),
      .valid_o     (net_valid),
      .packet_o    (net_packet),
      .row_o       (net_row),
      .readback_clk_i,
      .readback_state_i,
      .count_o     (network_count)
  );

  always_ff @(posedge clk_i) begin
    progress_o <= !rst_i && (progress != '0 || packet_pop != '0);
  end
  assign fault_o = fault != '0;

  // ---- readback -----------------------------------------------------------------
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  logic [$clog2(2*Sources)-1:0] unit;
  logic [$clog2(4*Sources)-1:0] counter;

  assign readback_status[2*Cores*Status+:2*Status] = {host_status, host_status};
  assign unit = ($clog2(2*Sources))'({readback_core_i, readback_unit_i[0]});
  assign readback_status_o = readback_status[unit*Status+:Status];

  assign readback_count[(4*Cores+1)*Count+:Count] = '0;  // the host port has none
  for (genvar s = 0; s < Sources; s++) begin : gen_network_count
    assign readback_count[(4*s+3)*Count+:Count] = network_count[s*Count+:Count];
  end
  assign counter = ($clog2(4*Sources))'({readback_core_i, readback_unit_i});
  assign readback_count_o = readback_count[counter*Count+:Count];

  assign readback_row_o = readback_row[CoreBits'(readback_core_i)*RowBits+:RowBits];
endmodule
