// One core: sequencer, matrix unit, vector unit, tensor rows, network port.
`include "assert.svh"

module core #(
    parameter int unsigned Lanes        = 8,
    parameter int unsigned PeTerms      = 4,
    parameter int unsigned WeightBlocks = 2048,
    parameter int unsigned InboxRows    = 1024,
    parameter int unsigned LocalRows    = 256,
    parameter int unsigned Accumulators = 32,
    parameter int unsigned PreloadRows  = 256,
    parameter int unsigned Instructions = 512,
    parameter int unsigned Tables       = 4,
    parameter int unsigned MmFanout     = isa_pkg::MmFanoutDefault,
    parameter int unsigned MmNormalise  = isa_pkg::MmNormaliseDefault,
    parameter int unsigned VecAlu       = isa_pkg::VecAluDefault,
    parameter int unsigned VecTable     = isa_pkg::VecTableDefault,
    parameter int unsigned VecOut       = isa_pkg::VecOutDefault,
    parameter bit Readback              = 1'b1,  // of tensor rows
    localparam int unsigned RowBits     = Lanes * 16
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    input  logic                                start_i,
    // configuration, while the sequencer is stopped
    input  logic                                cfg_valid_i,
    input  logic [2:0]                          cfg_memory_i,
    input  logic [machine_pkg::CfgAddrBits-1:0] cfg_addr_i,
    input  logic [RowBits-1:0]                  cfg_data_i,
    // from the network's broadcast register, for this core
    input  logic                                net_valid_i,
    input  logic [machine_pkg::PacketBits-1:0]  net_packet_i,    // a packet_t
    input  logic [RowBits-1:0]                  net_row_i,
    // outbox
    output logic                                packet_valid_o,
    output logic [machine_pkg::PacketBits-1:0]  packet_o,        // a packet_t
    output logic [RowBits-1:0]                  packet_row_o,
    input  logic                                packet_pop_i,
    // for watching
    output logic                                progress_o,
    output logic                                fault_o,
    input  logic                                readback_clk_i,
    input  logic [15:0]                         readback_addr_i,
    output logic [RowBits-1:0]                  readback_row_o,
    output logic [machine_pkg::StatusBits-1:0]  readback_matrix_o,
    output logic [machine_pkg::StatusBits-1:0]  readback_vector_o,
    input  logic [2:0]                          readback_state_i,
    output logic [machine_pkg::CounterBits-1:0] matrix_count_o,
    output logic [machine_pkg::CounterBits-1:0] vector_count_o,
    output logic [machine_pkg::CounterBits-1:0] sequencer_count_o
);
  localparam int unsigned PcBits = $clog2(Instructions);

  // The ports of packets are plain bits: Verilator 5.006 builds a core once for all
  // instances (hier_block) only where no port is a struct.
  machine_pkg::packet_t net_packet;
  assign net_packet = net_packet_i;

  // ---- configuration ----------------------------------------------------------
  logic cfg_instruction, cfg_weights, cfg_inbox, cfg_local, cfg_preload, cfg_table, cfg_header,
      cfg_entry;
  assign cfg_instruction = cfg_valid_i && cfg_memory_i == machine_pkg::CfgInstruction;
  assign cfg_weights     = cfg_valid_i && cfg_memory_i == machine_pkg::CfgWeights;
  assign cfg_inbox       = cfg_valid_i && cfg_memory_i == machine_pkg::CfgInbox;
  assign cfg_local       = cfg_valid_i && cfg_memory_i == machine_pkg::CfgLocal;
  assign cfg_preload     = cfg_valid_i && cfg_memory_i == machine_pkg::CfgPreload;
  assign cfg_table       = cfg_valid_i && cfg_memory_i == machine_pkg::CfgTable;
  assign cfg_header      = cfg_valid_i && cfg_memory_i == machine_pkg::CfgTableHeader;
  assign cfg_entry       = cfg_valid_i && cfg_memory_i == machine_pkg::CfgEntry;

  // ---- sequencer --------------------------------------------------------------
  logic [2:0]                   push;
  logic [isa_pkg::InstBits-1:0] inst;
  logic [PcBits-1:0]            pc;
  logic                         matrix_full, vector_full;

  sequencer #(
      .Instructions(Instructions),
      .ChunkBits   (RowBits)
  ) u_sequencer (
      .clk_i,
      .rst_i,
      .start_i,
      .cfg_write_i(cfg_instruction),
      .cfg_entry_i(cfg_entry),
      .cfg_addr_i (cfg_addr_i[15:0]),
      .cfg_data_i,
      .full_i     ({1'b0, vector_full, matrix_full}),
      .push_o     (push),
      .inst_o     (inst),
      .pc_o       (pc),
      .readback_clk_i,
      .readback_state_i,
      .count_o    (sequencer_count_o)
  );

  // ---- tokens given in this cycle: network, matrix unit, vector unit ------------
  machine_pkg::signal_t matrix_signal, vector_signal;
  logic                 net_data, net_signal;
  machine_pkg::gives_t  matrix_give, vector_give;

  assign net_data   = net_valid_i && net_packet.data;
  assign net_signal = net_valid_i && net_packet.signal;
  assign matrix_give.valid = {vector_signal.valid && vector_signal.units[0],
                              matrix_signal.valid && matrix_signal.units[0],
                              net_signal && net_packet.units[0]};
  assign vector_give.valid = {vector_signal.valid && vector_signal.units[1],
                              matrix_signal.valid && matrix_signal.units[1],
                              net_signal && net_packet.units[1]};
  assign matrix_give.token = {vector_signal.token, matrix_signal.token, net_packet.token};
  assign vector_give.token = matrix_give.token;

  // ---- tensor rows ------------------------------------------------------------
  logic [3:0]                read;
  logic [63:0]               read_addr;
  logic [4*RowBits-1:0]      read_row;
  logic [3*Lanes-1:0]        read_tiny;
  machine_pkg::destination_t dst, weight;
  logic [RowBits-1:0]        dst_row;

  tensor_ram #(
      .Lanes    (Lanes),
      .InboxRows(InboxRows),
      .LocalRows(LocalRows),
      .Readback (Readback)
  ) u_tensor (
      .clk_i,
      .rst_i,
      .read_i       (read),
      .read_addr_i  (read_addr),
      .read_row_o   (read_row),
      .read_tiny_o  (read_tiny),
      .inbox_write_i(cfg_inbox || net_data),
      .inbox_addr_i (cfg_inbox ? cfg_addr_i[15:0] : net_packet.addr[15:0]),
      .inbox_row_i  (cfg_inbox ? cfg_data_i : net_row_i),
      .local_write_i(cfg_local || dst.local_row),
      .local_addr_i (cfg_local ? cfg_addr_i[15:0] : dst.addr[15:0]),
      .local_row_i  (cfg_local ? cfg_data_i : dst_row),
      .readback_clk_i,
      .readback_addr_i,
      .readback_row_o
  );

  // ---- units ------------------------------------------------------------------
  logic                  result_valid;
  machine_pkg::take_t    result;
  logic [Lanes*32-1:0]   result_row;
  logic                  matrix_issue, vector_issue, matrix_fault, vector_fault;
  machine_pkg::watched_t matrix_watched, vector_watched;

  // A weight is configured like a row that the vector unit writes.
  assign weight.local_row     = 1'b0;
  assign weight.weight_row    = cfg_weights || dst.weight_row;
  assign weight.weight_column = dst.weight_column;
  assign weight.addr          = cfg_weights ? cfg_addr_i[17:0] : dst.addr;

  matrix_unit #(
      .Lanes       (Lanes),
      .PeTerms     (PeTerms),
      .WeightBlocks(WeightBlocks),
      .Accumulators(Accumulators),
      .PreloadRows (PreloadRows),
      .PcBits      (PcBits),
      .MmFanout    (MmFanout),
      .MmNormalise (MmNormalise)
  ) u_matrix (
      .clk_i,
      .rst_i,
      .start_i,
      .push_i         (push[0]),
      .inst_i         (inst),
      .pc_i           (pc),
      .full_o         (matrix_full),
      .give_i         (matrix_give),
      .read_o         (read[0]),
      .read_addr_o    (read_addr[15:0]),
      .read_row_i     (read_row[RowBits-1:0]),
      .weight_i       (weight),
      .weight_data_i  (cfg_weights ? cfg_data_i : dst_row),
      .cfg_preload_i  (cfg_preload),
      .cfg_addr_i     (cfg_addr_i[15:0]),
      .cfg_data_i,
      .result_valid_o (result_valid),
      .result_i       (result),
      .result_row_o   (result_row),
      .signal_o       (matrix_signal),
      .issue_o        (matrix_issue),
      .fault_o        (matrix_fault),
      .readback_clk_i,
      .readback_state_i,
      .watched_o      (matrix_watched)
  );

  vector_unit #(
      .Lanes   (Lanes),
      .Tables  (Tables),
      .PcBits  (PcBits),
      .VecAlu  (VecAlu),
      .VecTable(VecTable),
      .VecOut  (VecOut)
  ) u_vector (
      .clk_i,
      .rst_i,
      .start_i,
      .push_i         (push[1]),
      .inst_i         (inst),
      .pc_i           (pc),
      .full_o         (vector_full),
      .give_i         (vector_give),
      .read_o         (read[3:1]),
      .read_addr_o    (read_addr[63:16]),
      .read_row_i     (read_row[4*RowBits-1:RowBits]),
      .read_tiny_i    (read_tiny),
      .result_valid_i (result_valid),
      .result_o       (result),
      .result_row_i   (result_row),
      .dst_o          (dst),
      .dst_row_o      (dst_row),
      .signal_o       (vector_signal),
      .packet_valid_o,
      .packet_o,
      .packet_row_o,
      .packet_pop_i,
      .cfg_table_i    (cfg_table),
      .cfg_header_i   (cfg_header),
      .cfg_addr_i     (cfg_addr_i[15:0]),
      .cfg_data_i     (cfg_data_i[63:0]),
      .issue_o        (vector_issue),
      .fault_o        (vector_fault),
      .readback_clk_i,
      .readback_state_i,
      .watched_o      (vector_watched)
  );
  assign {readback_matrix_o, matrix_count_o} = matrix_watched;
  assign {readback_vector_o, vector_count_o} = vector_watched;

  assign progress_o = matrix_issue || vector_issue;
  assign fault_o    = matrix_fault || vector_fault;

  `SLUICE_ASSERT(!(net_data && net_packet.addr[17:16] != '0))
  `SLUICE_ASSERT(!(cfg_valid_i && cfg_addr_i[19:16] > (cfg_weights ? 4'd3 : 4'd0)))
  // Memories are configured while nothing runs: their write ports are not shared.
  `SLUICE_ASSERT(!(cfg_valid_i && (net_valid_i || dst.local_row || dst.weight_row || dst.weight_column)))
endmodule
