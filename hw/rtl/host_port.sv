// The host's side of the network: its sequencer and `input` unit turn offered rows
// into packets; rows for the host wait in the output FIFO.
`include "assert.svh"

module host_port #(
    parameter int unsigned Lanes        = 8,
    parameter int unsigned Instructions = 32,
    localparam int unsigned RowBits     = Lanes * 16
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               start_i,
    input  logic                               cfg_write_i,  // instruction RAM
    input  logic                               cfg_entry_i,
    input  logic [15:0]                        cfg_addr_i,
    input  logic [RowBits-1:0]                 cfg_data_i,
    // rows from and to the host
    input  logic                               in_valid_i,
    output logic                               in_ready_o,
    input  logic [RowBits-1:0]                 in_row_i,
    output logic                               out_valid_o,
    input  logic                               out_ready_i,
    output logic [RowBits-1:0]                 out_row_o,
    output logic [17:0]                        out_addr_o,
    // to the network
    output logic                               valid_o,
    output machine_pkg::packet_t               packet_o,
    output logic [RowBits-1:0]                 row_o,
    input  logic                               pop_i,
    output logic                               free_o,       // room for one more output row
    input  logic                               grant_i,      // an output row is on its way
    // from the network, for the host
    input  logic                               net_valid_i,
    input  machine_pkg::packet_t               net_packet_i,
    input  logic [RowBits-1:0]                 net_row_i,
    // for watching
    output logic                               progress_o,
    output logic                               fault_o,
    input  logic                               readback_clk_i,
    input  logic [2:0]                         readback_state_i,
    output logic [machine_pkg::StatusBits-1:0] status_o,
    output logic [machine_pkg::CounterBits-1:0] input_count_o,
    output logic [machine_pkg::CounterBits-1:0] sequencer_count_o
);
  localparam int unsigned PcBits = $clog2(Instructions);

  machine_pkg::packet_t         packet;
  isa_pkg::input_inst_t         inst, next;
  logic [isa_pkg::InstBits-1:0] seq_inst, inst_bits, next_bits;
  logic [PcBits-1:0]            seq_pc;
  logic [2:0]                   push;
  machine_pkg::place_t          place;
  machine_pkg::step_t           step;
  logic                         full, issue;
  logic [4:0]                   next_last;  // not needed here
  logic [2:0]                   block;
  logic [17:0]                  dst;
  logic                         in_full, out_full, out_pop, idle;

  sequencer #(
      .Instructions(Instructions),
      .ChunkBits   (RowBits)
  ) u_sequencer (
      .clk_i,
      .rst_i,
      .start_i,
      .cfg_write_i,
      .cfg_entry_i,
      .cfg_addr_i,
      .cfg_data_i,
      .full_i({full, 2'b00}),
      .push_o(push),
      .inst_o(seq_inst),
      .pc_o  (seq_pc),
      .readback_clk_i,
      .readback_state_i,
      .count_o(sequencer_count_o)
  );

  unit_front #(
      .PcBits(PcBits),
      .Gives (1)
  ) u_front (
      .clk_i,
      .rst_i,
      .start_i,
      .push_i      (push[2]),
      .inst_i      (seq_inst),
      .pc_i        (seq_pc),
      .full_o      (full),
      .give_i      (net_valid_i && net_packet_i.signal),
      .give_token_i(net_packet_i.token),
      .inst_o      (inst_bits),
      .place_o     (place),
      .block_i     (block),
      .step_o      (step),
      .next_o      (next_bits),
      .next_last_o (next_last),
      .fault_o,
      .readback_clk_i,
      .readback_state_i,
      .status_o,
      .count_o     (input_count_o)
  );
  assign inst  = inst_bits;
  assign next  = next_bits;
  assign issue = step.issue;

  loop_address #(
      .Width(18),
      .Rings(1'b1)
  ) u_dst (
      .clk_i,
      .step_i   (step),
      .base_i   (next.dst),
      .stride_i (next.dst_stride),
      .ring_i   (next.dst_ring),
      .address_o(dst)
  );

  assign block = inst.skip   ? machine_pkg::BlockNone
               : in_full     ? machine_pkg::BlockOutboxFull
               : !in_valid_i ? machine_pkg::BlockHostInput : machine_pkg::BlockNone;
  assign in_ready_o = place.may_issue && !inst.skip && !in_full;

  always_comb begin
    packet.mask   = inst.mask;
    packet.data   = 1'b1;
    packet.addr   = dst;
    packet.signal = inst.sig_en && place.last[inst.sig_level];
    packet.token  = inst.sig_token;
    packet.units  = inst.sig_units;
  end

  fifo #(
      .Width(machine_pkg::PacketBits + RowBits),
      .Depth(isa_pkg::HostInDepth)
  ) u_in (
      .clk_i,
      .rst_i,
      .push_i (issue && !inst.skip),
      .write_i(in_valid_i && !in_full),
      .data_i ({packet, in_row_i}),
      .pop_i,
      .valid_o,
      .head_o ({packet_o, row_o}),
      .full_o (in_full)
  );

  assign out_pop = out_valid_o && out_ready_i;

  fifo #(
      .Width(18 + RowBits),
      .Depth(isa_pkg::HostOutDepth)
  ) u_out (
      .clk_i,
      .rst_i,
      .push_i (net_valid_i && net_packet_i.data),
      .write_i(net_valid_i && net_packet_i.data),
      .data_i ({net_packet_i.addr, net_row_i}),
      .pop_i  (out_pop),
      .valid_o(out_valid_o),
      .head_o ({out_addr_o, out_row_o}),
      .full_o (out_full)
  );

  credit_counter #(
      .Depth(isa_pkg::HostOutDepth)
  ) u_credits (
      .clk_i,
      .rst_i,
      .take_i(grant_i),
      .give_i(out_pop),
      .free_o,
      .idle_o(idle)
  );

  assign progress_o = issue || out_pop;

  // What the host promised a place is in the output, or on its way there.
  `SLUICE_ASSERT(!(out_full && free_o))
endmodule
