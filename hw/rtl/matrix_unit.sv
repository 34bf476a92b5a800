// The matrix unit: issue, the control that travels beside the array, accumulators,
// preload rows and the result FIFO.
//
// A beat issued in t reads its x row in t+1 and accumulates in cycle A = t+Depth;
// ctl_q[s] is the control of the beat issued s cycles ago.
`include "assert.svh"

module matrix_unit #(
    parameter int unsigned Lanes        = 8,
    parameter int unsigned PeTerms      = 4,
    parameter int unsigned WeightBlocks = 2048,
    parameter int unsigned Accumulators = 32,
    parameter int unsigned PreloadRows  = 256,
    parameter int unsigned PcBits       = 9,
    parameter int unsigned MmFanout     = isa_pkg::MmFanoutDefault,
    parameter int unsigned MmNormalise  = isa_pkg::MmNormaliseDefault,
    localparam int unsigned RowBits     = Lanes * 16
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               start_i,
    input  logic                               push_i,
    input  logic [isa_pkg::InstBits-1:0]       inst_i,
    input  logic [PcBits-1:0]                  pc_i,
    output logic                               full_o,
    input  machine_pkg::gives_t                give_i,
    // tensor row x: address in t, row in t+1
    output logic                               read_o,
    output logic [15:0]                        read_addr_o,
    input  logic [RowBits-1:0]                 read_row_i,
    // weights: a row (one output lane) or a column (one input position) of a block
    input  machine_pkg::destination_t          weight_i,
    input  logic [RowBits-1:0]                 weight_data_i,
    // configuration of the preload rows
    input  logic                               cfg_preload_i,
    input  logic [15:0]                        cfg_addr_i,
    input  logic [RowBits-1:0]                 cfg_data_i,
    // results: read and perhaps popped in t, fp32 row in t+1
    output logic                               result_valid_o,
    input  machine_pkg::take_t                 result_i,
    output logic [Lanes*32-1:0]                result_row_o,
    output machine_pkg::signal_t               signal_o,
    // for watching
    output logic                               issue_o,
    output logic                               fault_o,
    input  logic                               readback_clk_i,
    input  logic [2:0]                         readback_state_i,
    output machine_pkg::watched_t              watched_o
);
  `SLUICE_REQUIRE(WeightBlocks >= 2 && WeightBlocks <= 65536 && WeightBlocks * Lanes <= 1 << 18)

  localparam int unsigned Chain = Lanes / PeTerms;
  localparam int unsigned Depth = isa_pkg::MmRead + MmFanout + isa_pkg::MmPe + Chain - 1;
  localparam int unsigned LaneBits = isa_pkg::AnchorBits + isa_pkg::AccBits + 1;
  localparam int unsigned BlockBits = $clog2(WeightBlocks);

  typedef struct packed {
    logic        compute;  // not a skip beat
    logic        add;      // of products
    logic        zero;     // init of this beat
    logic        preload;
    logic        result;   // emit of this beat
    logic        fp32;
    logic        low;      // results that are not rounded
    logic        high;
    logic        raw;
    logic [7:0]  acc;
    logic [11:0] p;
    logic        signal;   // token given when the beat accumulates
    logic [4:0]  token;
    logic [1:0]  units;
  } ctl_t;

  isa_pkg::mm_inst_t            inst, next, coming;  // coming: of the beat that step moves to
  logic [isa_pkg::InstBits-1:0] inst_bits, next_bits;
  machine_pkg::place_t          place;
  machine_pkg::step_t           step;
  logic [4:0]                   next_last;
  logic                         issue;
  logic [7:0]                   acc;
  logic [15:0]                  w;
  logic [11:0]                  p;

  // ---- issue ------------------------------------------------------------------
  logic       emit_result, result_free, no_results, unrounded, compute;
  logic [2:0] block;

  // Whether a beat emits is known with it: the decision to issue starts at a register.
  assign coming = step.load ? next : inst;
  always_ff @(posedge clk_i) begin
    if (step.move) begin
      emit_result <= !coming.skip && next_last[coming.emit_level] &&
                     (coming.emit == isa_pkg::EmitBf16 || coming.emit == isa_pkg::EmitFp32 ||
                      coming.emit == isa_pkg::EmitLow || coming.emit == isa_pkg::EmitHigh);
    end
  end
  assign unrounded = inst.emit == isa_pkg::EmitLow || inst.emit == isa_pkg::EmitHigh;
  assign block = emit_result && !result_free ? machine_pkg::BlockResultFull : machine_pkg::BlockNone;

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

  loop_address #(.Width(16), .Rings(1'b1)) u_x (
      .clk_i, .step_i(step), .base_i(next.x), .stride_i(next.x_stride), .ring_i(next.x_ring),
      .address_o(read_addr_o)
  );
  loop_address #(.Width(16)) u_w (
      .clk_i, .step_i(step), .base_i(next.w), .stride_i(next.w_stride), .ring_i('0),
      .address_o(w)
  );
  loop_address #(.Width(8)) u_acc (
      .clk_i, .step_i(step), .base_i(next.acc), .stride_i(next.acc_stride), .ring_i('0),
      .address_o(acc)
  );
  loop_address #(.Width(12)) u_p (
      .clk_i, .step_i(step), .base_i(next.p), .stride_i(next.p_stride), .ring_i('0),
      .address_o(p)
  );

  credit_counter #(
      .Depth(isa_pkg::ResultFifoDepth)
  ) u_credits (
      .clk_i,
      .rst_i,
      .take_i(issue && emit_result),
      .give_i(result_i.pop),
      .free_o(result_free),
      .idle_o(no_results)
  );

  assign compute = issue && !inst.skip;
  assign read_o  = compute && !unrounded;

  // ---- control beside the array -------------------------------------------------
  ctl_t issued;

  always_comb begin
    issued         = '0;
    issued.compute = compute;
    issued.add     = read_o;
    issued.zero    = place.first[inst.init_level] && inst.init == isa_pkg::InitZero;
    issued.preload = compute && place.first[inst.init_level] && inst.init == isa_pkg::InitPreload;
    issued.result  = issue && emit_result;
    issued.fp32    = inst.emit == isa_pkg::EmitFp32;
    issued.low     = inst.emit == isa_pkg::EmitLow;
    issued.high    = inst.emit == isa_pkg::EmitHigh;
    issued.raw     = compute && place.last[inst.emit_level] && inst.emit == isa_pkg::EmitRaw;
    issued.acc     = acc;
    issued.p       = p;
    issued.signal  = issue && inst.sig_en && place.last[inst.sig_level];
    issued.token   = inst.sig_token;
    issued.units   = inst.sig_units;
  end

  logic [$bits(issued)-1:0] ctl_q[Depth+2];  // bits of a ctl_t; entry 0 is unused

  always_ff @(posedge clk_i) begin
    for (int s = 2; s < Depth + 2; s++) ctl_q[s] <= rst_i ? '0 : ctl_q[s-1];
    ctl_q[1] <= rst_i ? '0 : issued;
  end

  // ---- array, accumulators, results ---------------------------------------------
  logic [BlockBits-1:0]              block_q;
  logic                              poison;
  logic [Lanes*6-1:0]                anchor;
  logic [Lanes*isa_pkg::AccBits-1:0] sum;
  logic [Lanes*LaneBits-1:0]         lane;
  logic                              rounded_valid;
  logic [Lanes*32-1:0]               rounded;
  ctl_t                              reading, ahead, early, after;  // of the beats in t+1, A-3, A-2, A+1

  assign reading = ctl_q[1];
  assign ahead   = ctl_q[Depth-3];
  assign early   = ctl_q[Depth-2];
  assign after   = ctl_q[Depth+1];

  always_ff @(posedge clk_i) begin
    if (read_o) block_q <= w[BlockBits-1:0];
  end

  matrix_array #(
      .Lanes       (Lanes),
      .PeTerms     (PeTerms),
      .WeightBlocks(WeightBlocks),
      .MmFanout    (MmFanout)
  ) u_array (
      .clk_i,
      .rst_i,
      .valid_i      (reading.compute),
      .zero_i       (!reading.add),
      .block_i      (block_q),
      .row_i        (read_row_i),
      .weight_row_i   (weight_i.weight_row),
      .weight_column_i(weight_i.weight_column),
      .weight_addr_i  (weight_i.addr[BlockBits+$clog2(Lanes)-1:0]),
      .weight_data_i,
      .poison_o     (poison),
      .anchor_o     (anchor),
      .sum_o        (sum)
  );

  accumulator #(
      .Lanes       (Lanes),
      .Accumulators(Accumulators),
      .PreloadRows (PreloadRows)
  ) u_accumulator (
      .clk_i,
      .rst_i,
      .read_i   (ahead.preload),
      .read_p_i (ahead.p),
      .valid_i  (early.compute),
      .zero_i   (early.zero),
      .preload_i(early.preload),
      .raw_i    (early.raw),
      .acc_i    (early.acc),
      .p_i      (early.p),
      .poison_i (poison),
      .anchor_i (anchor),
      .sum_i    (sum),
      .lane_o   (lane),
      .cfg_preload_i,
      .cfg_addr_i,
      .cfg_data_i
  );

  normalise #(
      .Lanes (Lanes),
      .Stages(MmNormalise)
  ) u_normalise (
      .clk_i,
      .rst_i,
      .valid_i(after.result),
      .fp32_i (after.fp32),
      .low_i  (after.low),
      .high_i (after.high),
      .lane_i (lane),
      .valid_o(rounded_valid),
      .row_o  (rounded)
  );

  result_fifo #(
      .Width(Lanes * 32),
      .Depth(isa_pkg::ResultFifoDepth)
  ) u_results (
      .clk_i,
      .rst_i,
      .push_i (rounded_valid),
      .data_i (rounded),
      .valid_o(result_valid_o),
      .read_i (result_i.read),
      .pop_i  (result_i.pop),
      .data_o (result_row_o)
  );

  assign signal_o = {after.signal, after.token, after.units};

  `SLUICE_ASSERT(!read_o || {1'b0, w} < 17'(WeightBlocks))
  `SLUICE_ASSERT(!(weight_i.weight_row || weight_i.weight_column) ||
                 {1'b0, weight_i.addr} < 19'(WeightBlocks * Lanes))
  `SLUICE_ASSERT(!(weight_i.weight_row && weight_i.weight_column))
endmodule
