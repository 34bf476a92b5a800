// The vector unit: issue, operand registers, the stages each beat's path uses, and
// what leaves at the end: local rows, weight rows and columns, packets, signals.
//
// A beat issued in t reads its rows in t+1, has its operands registered in t+2 and
// writes its destination in t+L. Every beat carries its path: when it leaves a unit it
// enters the next one that it uses. path_gate lets it issue when it comes behind all
// beats before it in each of them and at the output. What a beat needs in the second
// arithmetic unit and at the output waits in rings, one slot per beat.
`include "assert.svh"

module vector_unit #(
    parameter int unsigned Lanes    = 8,
    parameter int unsigned Tables   = 4,
    parameter int unsigned PcBits   = 9,
    parameter int unsigned VecAlu   = isa_pkg::VecAluDefault,
    parameter int unsigned VecTable = isa_pkg::VecTableDefault,
    parameter int unsigned VecOut   = isa_pkg::VecOutDefault,
    localparam int unsigned RowBits = Lanes * 16
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               start_i,
    input  logic                               push_i,
    input  logic [isa_pkg::InstBits-1:0]       inst_i,
    input  logic [PcBits-1:0]                  pc_i,
    output logic                               full_o,
    input  machine_pkg::gives_t                give_i,
    // tensor rows a, b, c: addresses in t, rows in t+1
    output logic [2:0]                         read_o,
    output logic [47:0]                        read_addr_o,
    input  logic [3*RowBits-1:0]               read_row_i,
    input  logic [3*Lanes-1:0]                 read_tiny_i,  // lanes that are zero or denormal
    // matrix results: read and perhaps popped in t, fp32 row in t+1
    input  logic                               result_valid_i,
    output machine_pkg::take_t                 result_o,
    input  logic [Lanes*32-1:0]                result_row_i,
    // destinations, in t+L
    output machine_pkg::destination_t          dst_o,
    output logic [RowBits-1:0]                 dst_row_o,
    output machine_pkg::signal_t               signal_o,
    // to the network
    output logic                               packet_valid_o,
    output machine_pkg::packet_t               packet_o,
    output logic [RowBits-1:0]                 packet_row_o,
    input  logic                               packet_pop_i,
    // configuration of the function tables
    input  logic                               cfg_table_i,
    input  logic                               cfg_header_i,
    input  logic [15:0]                        cfg_addr_i,
    input  logic [63:0]                        cfg_data_i,
    // for watching
    output logic                               issue_o,
    output logic                               fault_o,
    input  logic                               readback_clk_i,
    input  logic [2:0]                         readback_state_i,
    output machine_pkg::watched_t              watched_o
);
  localparam int unsigned WideBits = Lanes * 32;
  localparam int unsigned Slots    = 32;  // more beats than the longest path holds
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Levels   = $clog2(Lanes);
  localparam int unsigned Sum      = (Levels + 1) / 2 + isa_pkg::VecReduceSum;
  localparam int unsigned Argmax   = Levels + isa_pkg::VecReduceArgmax;
  localparam int unsigned Reduce   = Sum > Argmax ? Sum : Argmax;  // the longest

  `SLUICE_REQUIRE(isa_pkg::VecRead + 2 * VecAlu + VecTable + Reduce + VecOut < Slots)

  // The second arithmetic unit needs this of a beat besides its lanes.
  typedef struct packed {
    logic [4:0]           op;
    logic [1:0]           rhs;
    logic [31:0]          imm;
    logic                 b_wide;
  } second_t;

  // What a beat needs at the output.
  typedef struct packed {
    logic                 relu;
    logic [1:0]           part;
    logic                 local_write;
    logic                 weight_row;
    logic                 weight_column;
    logic                 by_network;    // row and token travel as a packet
    logic                 makes_packet;
    // machine_pkg::packet_t; the address is that of any destination, signal, token
    // and units those of any signal
    logic [machine_pkg::PacketBits-1:0] packet;
  } beat_t;

  isa_pkg::vec_inst_t           inst, next, coming;  // coming: of the beat that step moves to
  logic [isa_pkg::InstBits-1:0] inst_bits, next_bits;
  machine_pkg::place_t          place;
  machine_pkg::step_t           step;
  logic [4:0]                   next_last;
  logic                         issue;
  logic [15:0]                  a_addr, b_addr, c_addr;
  logic [17:0]                  dst_addr;

  // ---- issue ------------------------------------------------------------------
  machine_pkg::path_t path, next_path;
  logic       produces, signals, makes_packet;  // the beat
  logic       next_produces, next_signals;      // the beat that step moves to
  logic       from_mxu, held, outbox_free, retire;
  logic [2:0] block;
  logic       outbox_empty, outbox_full;  // for the assertions of their owners

  assign path          = {inst.reduce[1:0], inst.alu2 != isa_pkg::AluPass, inst.table_en,
                          inst.alu1 != isa_pkg::AluPass};
  assign next_path     = {next.reduce[1:0], next.alu2 != isa_pkg::AluPass, next.table_en,
                          next.alu1 != isa_pkg::AluPass};
  assign coming        = step.load ? next : inst;
  assign next_produces = coming.dst_kind != isa_pkg::DstNone &&
                         (coming.reduce == isa_pkg::ReduceNone || next_last[coming.reduce_level]);
  assign next_signals  = coming.sig_en && next_last[coming.sig_level];

  // What a beat asks for is known with it: the decision to issue starts at registers.
  always_ff @(posedge clk_i) begin
    if (step.move) begin
      produces     <= next_produces;
      signals      <= next_signals;
      makes_packet <= (coming.dst_kind == isa_pkg::DstNet && next_produces) ||
                      (coming.dst_kind == isa_pkg::DstSignal && next_signals);
      from_mxu     <= coming.a_src == isa_pkg::SourceMxu || coming.a_src == isa_pkg::SourcePeek;
    end
  end
  assign block = from_mxu && !result_valid_i  ? machine_pkg::BlockResultEmpty
               : makes_packet && !outbox_free ? machine_pkg::BlockOutboxFull
               : held                         ? machine_pkg::BlockPipelineBusy
                                              : machine_pkg::BlockNone;

  unit_front #(
      .PcBits(PcBits),
      .Gives (3)
  ) u_front (
      .clk_i,
      .rst_i,
      .start_i,
      .push_i,
      .inst_i,
      .pc_i,
      .full_o,
      .give_i      (give_i.valid),
      .give_token_i(give_i.token),
      .inst_o      (inst_bits),
      .place_o     (place),
      .block_i     (block),
      .step_o      (step),
      .next_o      (next_bits),
      .next_last_o (next_last),
      .fault_o,
      .readback_clk_i,
      .readback_state_i,
      .status_o    (watched_o.status),
      .count_o     (watched_o.count)
  );
  assign inst    = inst_bits;
  assign next    = next_bits;
  assign issue   = step.issue;
  assign issue_o = issue;

  loop_address #(.Width(16), .Rings(1'b1)) u_a (
      .clk_i, .step_i(step), .base_i(next.a), .stride_i(next.a_stride), .ring_i(next.a_ring),
      .address_o(a_addr)
  );
  loop_address #(.Width(16), .Rings(1'b1)) u_b (
      .clk_i, .step_i(step), .base_i(next.b), .stride_i(next.b_stride), .ring_i(next.b_ring),
      .address_o(b_addr)
  );
  loop_address #(.Width(16), .Rings(1'b1)) u_c (
      .clk_i, .step_i(step), .base_i(next.c), .stride_i(next.c_stride), .ring_i(next.c_ring),
      .address_o(c_addr)
  );
  loop_address #(.Width(18), .Rings(1'b1)) u_dst (
      .clk_i, .step_i(step), .base_i(next.dst), .stride_i(next.dst_stride), .ring_i(next.dst_ring),
      .address_o(dst_addr)
  );

  logic table_in, reduce_in, out_in;
  path_gate #(
      .Lanes   (Lanes),
      .VecAlu  (VecAlu),
      .VecTable(VecTable)
  ) u_gate (
      .clk_i,
      .rst_i,
      .issue_i    (issue),
      .move_i     (step.move),
      .load_i     (step.load),
      .path_i     (path),
      .next_path_i(next_path),
      .held_o     (held),
      .entered_i  ({out_in, reduce_in, table_in})
  );

  credit_counter #(
      .Depth(isa_pkg::OutboxDepth)
  ) u_credits (
      .clk_i,
      .rst_i,
      .take_i(issue && makes_packet),
      .give_i(packet_pop_i),
      .free_o(outbox_free),
      .idle_o(outbox_empty)
  );

  assign result_o.read = issue && from_mxu;
  assign result_o.pop  = issue && inst.a_src == isa_pkg::SourceMxu;
  assign read_o = {issue && inst.c_en, issue && inst.b_en,
                   issue && inst.a_src == isa_pkg::SourceRam};
  assign read_addr_o = {c_addr, b_addr, a_addr};

  // ---- t+1: rows are read -----------------------------------------------------
  machine_pkg::path_t path1_q;
  beat_t       beat, beat1_q;
  second_t     second, second1_q, second2_q;
  machine_pkg::packet_t leaving;
  logic        valid1_q, last1_q;
  logic [4:0]  alu1_op1_q;
  logic [1:0]  a_src1_q, rhs11_q;
  logic        b_en1_q, c_en1_q, b_bcast1_q, c_bcast1_q, b_wide1_q;
  logic [31:0] imm11_q;
  logic [3:0]  table_id1_q;

  always_comb begin
    second.op          = inst.alu2;
    second.rhs         = inst.rhs2;
    second.imm         = inst.imm2;
    second.b_wide      = inst.b_wide;
    beat.relu          = inst.post == isa_pkg::PostRelu;
    beat.part          = inst.part;
    beat.local_write   = inst.dst_kind == isa_pkg::DstLocal && produces;
    beat.weight_row    = inst.dst_kind == isa_pkg::DstWrow && produces;
    beat.weight_column = inst.dst_kind == isa_pkg::DstWcol && produces;
    beat.by_network    = inst.dst_kind == isa_pkg::DstNet || inst.dst_kind == isa_pkg::DstSignal;
    beat.makes_packet  = makes_packet;
    beat.packet        = leaving;
  end

  assign leaving.mask   = inst.mask;
  assign leaving.data   = inst.dst_kind == isa_pkg::DstNet;
  assign leaving.addr   = dst_addr;
  assign leaving.signal = signals;
  assign leaving.token  = inst.sig_token;
  assign leaving.units  = inst.sig_units;

  always_ff @(posedge clk_i) begin
    if (rst_i) valid1_q <= 1'b0;
    else valid1_q <= issue;
  end

  always_ff @(posedge clk_i) begin
    if (issue) begin
      beat1_q     <= beat;
      second1_q   <= second;
      path1_q     <= path;
      last1_q     <= place.last[inst.reduce_level];
      alu1_op1_q  <= inst.alu1;
      table_id1_q <= inst.table_id;
      a_src1_q    <= inst.a_src;
      rhs11_q     <= inst.rhs1;
      imm11_q     <= inst.imm1;
      b_en1_q     <= inst.b_en;
      c_en1_q     <= inst.c_en;
      b_bcast1_q  <= inst.b_bcast;
      c_bcast1_q  <= inst.c_bcast;
      b_wide1_q   <= inst.b_wide;
    end
  end

  // Operands: bf16 rows with denormals flushed, lane 0 everywhere for a broadcast,
  // zero if not read. Row c is raw where it holds the lower halves of operand b.
  function automatic logic [15:0] flush(input logic [15:0] x, input logic tiny);
    flush = {x[15:7], x[6:0] & ~{7{tiny}}};
  endfunction

  logic [WideBits-1:0] a1, r1, a_q, r_q;
  logic [RowBits-1:0]  b1, c1;

  for (genvar i = 0; i < Lanes; i++) begin : gen_operand
    logic [15:0] a_ram, b_raw, b_lane, c_lane, c_raw;
    logic        b_tiny, c_tiny;
    logic [31:0] a, b;
    assign a_ram  = flush(read_row_i[i*16+:16], read_tiny_i[i]);
    assign b_raw  = b_bcast1_q ? read_row_i[RowBits+:16] : read_row_i[RowBits+i*16+:16];
    assign b_tiny = b_bcast1_q ? read_tiny_i[Lanes] : read_tiny_i[Lanes+i];
    assign b_lane = flush(b_raw, b_tiny);
    assign c_raw  = c_bcast1_q ? read_row_i[2*RowBits+:16] : read_row_i[2*RowBits+i*16+:16];
    assign c_tiny = c_bcast1_q ? read_tiny_i[2*Lanes] : read_tiny_i[2*Lanes+i];
    assign c_lane = flush(c_raw, c_tiny && !b_wide1_q);
    assign a = a_src1_q == isa_pkg::SourceRam ? {a_ram, 16'b0}
             : a_src1_q == isa_pkg::SourceNone ? '0 : result_row_i[i*32+:32];
    assign b1[i*16+:16] = b_en1_q ? b_lane : '0;
    assign c1[i*16+:16] = c_en1_q ? c_lane : '0;
    assign b = {b1[i*16+:16], b_wide1_q ? c1[i*16+:16] : 16'b0};
    assign a1[i*32+:32] = a;
    assign r1[i*32+:32] = rhs11_q == isa_pkg::Rhs1A ? a : rhs11_q == isa_pkg::Rhs1Imm ? imm11_q : b;
  end

  // ---- t+1, t+2: rings --------------------------------------------------------
  // What a beat needs at the output waits from the end of t+1 on. What it needs in the second
  // arithmetic unit waits from the end of t+2 on, with the right operand selected. These
  // rings are read a cycle ahead, so that a part may keep them in block RAM. The readers count
  // the beats that pass them.
  logic [WideBits-1:0] r2_now, waiting_r_q;
  logic [RowBits-1:0]  b_q, c_q, waiting_b_q, waiting_c_q;
  logic [SlotBits-1:0] slot_q, second_slot_q, alu2_slot, alu2_slot_q, out_slot_q;
  logic [4:0]          waiting_op;
  beat_t               beat_out;
  logic                second_in_q;  // in t+2: the beat goes to the second arithmetic unit

  always_ff @(posedge clk_i) begin
    if (valid1_q) begin
      a_q <= a1;
      if (path1_q.alu1) r_q <= r1;
      if (path1_q.alu2) begin
        second2_q <= second1_q;
        b_q       <= b1;
        c_q       <= c1;
      end
    end
  end

  lut_ram #(
      .Width($bits(beat1_q)),
      .Rows (Slots)
  ) u_beats (
      .clk_i,
      .read_addr_i (out_slot_q),
      .read_data_o (beat_out),
      .write_i     (valid1_q),
      .write_addr_i(slot_q),
      .write_data_i(beat1_q)
  );
  lut_ram #(
      .Width(5),
      .Rows (Slots)
  ) u_ops (
      .clk_i,
      .read_addr_i (alu2_slot_q),
      .read_data_o (waiting_op),
      .write_i     (second_in_q),
      .write_addr_i(second_slot_q),
      .write_data_i(second2_q.op)
  );
  queue_ram #(
      .Width(WideBits + 2 * RowBits),
      .Rows (Slots)
  ) u_operands (
      .clk_i,
      .write_i     (second_in_q),
      .write_addr_i(second_slot_q),
      .write_data_i({r2_now, b_q, c_q}),
      .read_i      (1'b1),
      .read_addr_i (alu2_slot),
      .read_data_o ({waiting_r_q, waiting_b_q, waiting_c_q})
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_right2
    assign r2_now[i*32+:32] = second2_q.rhs == isa_pkg::Rhs2A   ? a_q[i*32+:32]
                            : second2_q.rhs == isa_pkg::Rhs2Imm ? second2_q.imm
                            : second2_q.rhs == isa_pkg::Rhs2C   ? {c_q[i*16+:16], 16'b0}
                            : {b_q[i*16+:16], second2_q.b_wide ? c_q[i*16+:16] : 16'b0};
  end

  // ---- t+2: operands enter the first unit of their path -----------------------
  logic               alu1_in_q;  // the first arithmetic unit, or
  machine_pkg::stop_t next2_q;    // another
  machine_pkg::way_t  way1, way2_q;
  logic [4:0]         alu1_op_q;

  assign way1.lookup = path1_q.lookup;
  assign way1.reduce = path1_q.reduce;
  assign way1.last   = last1_q;
  assign way1.alu2   = path1_q.alu2;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      alu1_in_q   <= 1'b0;
      second_in_q <= 1'b0;
      next2_q     <= '0;
    end else begin
      alu1_in_q   <= valid1_q && path1_q.alu1;
      second_in_q <= valid1_q && path1_q.alu2;
      next2_q     <= {4{valid1_q && !path1_q.alu1}} &
                     machine_pkg::stop_of(way1.lookup, way1.reduce != '0, way1.alu2);
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid1_q) begin
      way2_q    <= way1;
      alu1_op_q <= alu1_op1_q;
    end
  end

  // ---- stages -----------------------------------------------------------------
  logic                alu1_out, table_out, alu2_in, alu2_out, reduce_to_alu2, reduce_to_out;
  logic [WideBits-1:0] alu1_y, x1, table_y, x2, x3, alu2_y, x4;
  logic [31:0]         reduce_y3, reduce_y4;
  machine_pkg::stop_t  alu1_soon, alu1_next, table_soon, table_next;
  machine_pkg::way_t   alu1_way, table_way, table_way_in, reduce_way_in;

  // Which table, a cycle ahead of the beat: the table unit registers the header.
  logic [4*VecAlu-1:0] table_ids_q;  // of the beats in the first arithmetic unit
  logic [3:0]                   table_id;
  always_ff @(posedge clk_i) begin
    table_ids_q <= {table_ids_q[4*VecAlu-5:0], table_id1_q};
  end
  assign table_id = alu1_soon.lookup ? table_ids_q[4*VecAlu-1-:4] : table_id1_q;

  // At most one unit has a beat for each of these.
  assign table_in  = next2_q.lookup || alu1_next.lookup;
  assign reduce_in = next2_q.reduce || alu1_next.reduce || table_next.reduce;
  assign alu2_in   = next2_q.alu2 || alu1_next.alu2 || table_next.alu2 || reduce_to_alu2;
  assign out_in    = next2_q.out || alu1_next.out || table_next.out || reduce_to_out || alu2_out;

  assign x1 = alu1_next.lookup ? alu1_y : a_q;
  assign x2 = table_next.reduce ? table_y : alu1_next.reduce ? alu1_y : a_q;
  assign x3 = reduce_to_alu2 ? {Lanes{reduce_y3}} : table_next.alu2 ? table_y
            : alu1_next.alu2 ? alu1_y : a_q;
  assign x4 = alu2_out ? alu2_y : reduce_to_out ? {Lanes{reduce_y4}} : table_next.out ? table_y
            : alu1_next.out ? alu1_y : a_q;

  always_comb begin
    table_way_in        = alu1_next.lookup ? alu1_way : way2_q;
    table_way_in.lookup = 1'b0;
    reduce_way_in       = table_next.reduce ? table_way : alu1_next.reduce ? alu1_way : way2_q;
  end

  beat_way #(
      .Stages(VecAlu)
  ) u_alu1_way (
      .clk_i, .rst_i, .valid_i(alu1_in_q), .way_i(way2_q),
      .soon_o(alu1_soon), .next_o(alu1_next), .way_o(alu1_way)
  );
  beat_way #(
      .Stages(VecTable)
  ) u_table_way (
      .clk_i, .rst_i, .valid_i(table_in), .way_i(table_way_in),
      .soon_o(table_soon), .next_o(table_next), .way_o(table_way)
  );

  `SLUICE_ASSERT(alu1_out == (alu1_next != '0))
  `SLUICE_ASSERT(table_out == (table_next != '0))

  assign alu2_slot = alu2_slot_q + SlotBits'(alu2_in);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      slot_q        <= '0;
      second_slot_q <= '0;
      alu2_slot_q   <= '0;
      out_slot_q    <= '0;
    end else begin
      if (valid1_q) slot_q <= slot_q + 1'b1;
      if (second_in_q) second_slot_q <= second_slot_q + 1'b1;
      alu2_slot_q <= alu2_slot;
      if (out_in) out_slot_q <= out_slot_q + 1'b1;
    end
  end

  vec_alu #(
      .Lanes (Lanes),
      .Stages(VecAlu)
  ) u_alu1 (
      .clk_i,
      .rst_i,
      .valid_i (alu1_in_q),
      .op_i    (alu1_op_q),
      .left_i  (a_q),
      .right_i (r_q),
      .b_i     ('0),
      .c_i     ('0),
      .valid_o (alu1_out),
      .result_o(alu1_y)
  );

  vec_table #(
      .Lanes (Lanes),
      .Tables(Tables),
      .Stages(VecTable)
  ) u_table (
      .clk_i,
      .rst_i,
      .cfg_entry_i (cfg_table_i),
      .cfg_header_i(cfg_header_i),
      .cfg_addr_i  (cfg_addr_i),
      .cfg_data_i  (cfg_data_i),
      .valid_i     (table_in),
      .table_i     (table_id),
      .value_i     (x1),
      .valid_o     (table_out),
      .value_o     (table_y)
  );

  vec_reduce #(
      .Lanes(Lanes)
  ) u_reduce (
      .clk_i,
      .rst_i,
      .valid_i     (reduce_in),
      .way_i       (reduce_way_in),
      .value_i     (x2),
      .alu2_valid_o(reduce_to_alu2),
      .alu2_value_o(reduce_y3),
      .out_valid_o (reduce_to_out),
      .out_value_o (reduce_y4)
  );

  // A beat that enters the second unit in t+2 does not wait in the rings. All others come
  // at least two cycles later.
  logic [4:0]          op2;
  logic [WideBits-1:0] r2;
  logic [RowBits-1:0]  b2, c2;
  assign op2 = next2_q.alu2 ? second2_q.op : waiting_op;
  assign r2  = next2_q.alu2 ? r2_now : waiting_r_q;
  assign b2  = next2_q.alu2 ? b_q : waiting_b_q;
  assign c2  = next2_q.alu2 ? c_q : waiting_c_q;

  vec_alu #(
      .Lanes (Lanes),
      .Stages(VecAlu)
  ) u_alu2 (
      .clk_i,
      .rst_i,
      .valid_i (alu2_in),
      .op_i    (op2),
      .left_i  (x3),
      .right_i (r2),
      .b_i     (b2),
      .c_i     (c2),
      .valid_o (alu2_out),
      .result_o(alu2_y)
  );

  vec_out #(
      .Lanes (Lanes),
      .Stages(VecOut)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_in),
      .relu_i (beat_out.relu),
      .part_i (beat_out.part),
      .value_i(x4),
      .valid_o(retire),
      .row_o  (dst_row_o)
  );

  // ---- t+L: destinations --------------------------------------------------------
  beat_t                done_q;
  machine_pkg::packet_t done_packet;

  assign done_packet = done_q.packet;

  logic                       done;
  logic [$bits(beat_out)-1:0] done_beat;  // bits of a beat_t

  optional_register #(.Width(1), .Present(VecOut == 2)) u_done (
      .clk_i, .enable_i(1'b1), .data_i(out_in), .data_o(done)
  );
  optional_register #(.Width($bits(beat_out)), .Present(VecOut == 2)) u_done_beat (
      .clk_i, .enable_i(out_in), .data_i(beat_out), .data_o(done_beat)
  );
  always_ff @(posedge clk_i) begin
    if (done) done_q <= done_beat;
  end

  assign dst_o.local_row     = retire && done_q.local_write;
  assign dst_o.weight_row    = retire && done_q.weight_row;
  assign dst_o.weight_column = retire && done_q.weight_column;
  assign dst_o.addr          = done_packet.addr;

  assign signal_o.valid = retire && done_packet.signal && !done_q.by_network;
  assign signal_o.token = done_packet.token;
  assign signal_o.units = done_packet.units;

  fifo #(
      .Width(machine_pkg::PacketBits + RowBits),
      .Depth(isa_pkg::OutboxDepth)
  ) u_outbox (
      .clk_i,
      .rst_i,
      .push_i (retire && done_q.makes_packet),
      .write_i(retire && done_q.makes_packet),
      .data_i ({done_q.packet, dst_row_o}),
      .pop_i  (packet_pop_i),
      .valid_o(packet_valid_o),
      .head_o ({packet_o, packet_row_o}),
      .full_o (outbox_full)
  );
endmodule
