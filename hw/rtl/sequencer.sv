// Walks through the instruction RAM from the entry on, one instruction per cycle, in
// three stages: read addresses the RAM, hold takes its output, execute acts.
// Unit instructions go to their unit's queue with the address registers added to
// their bases; all stages wait while that queue is full. A start, a restart and an
// endloop that goes back address the RAM themselves and drop what was read behind
// them: the next instruction executes two cycles later.
`include "assert.svh"

module sequencer #(
    parameter int unsigned Instructions = 512,
    parameter int unsigned ChunkBits    = 128,  // configuration data in one write
    localparam int unsigned PcBits      = $clog2(Instructions)
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  logic                         start_i,
    // configuration: address = instruction * chunk slots + chunk
    input  logic                         cfg_write_i,
    input  logic                         cfg_entry_i,  // the entry := data
    input  logic [15:0]                  cfg_addr_i,
    input  logic [ChunkBits-1:0]         cfg_data_i,
    // to the units: bit 0 matrix, bit 1 vector, bit 2 input
    input  logic [2:0]                   full_i,
    output logic [2:0]                   push_o,
    output logic [isa_pkg::InstBits-1:0] inst_o,
    output logic [PcBits-1:0]            pc_o,
    // counters
    input  logic                         readback_clk_i,
    input  logic [2:0]                   readback_state_i,
    output logic [machine_pkg::CounterBits-1:0] count_o
);
  localparam int unsigned Chunks   = (isa_pkg::InstBits + ChunkBits - 1) / ChunkBits;
  localparam int unsigned SlotBits = $clog2(Chunks);  // chunk slots: the next power of two

  `SLUICE_REQUIRE(Instructions >= 2 && (Instructions << SlotBits) <= 65536)

  logic                         running_q;  // hold has an instruction
  logic                         execute_q;  // execute has one
  logic                         advance, read, jump;
  logic [PcBits-1:0]            address;              // that is read
  logic [PcBits-1:0]            pc_q;                 // to read next
  logic [PcBits-1:0]            hold_pc_q, execute_pc_q;
  logic [Chunks*ChunkBits-1:0]  hold_q;
  logic [isa_pkg::InstBits-1:0] word_q;               // in execute

  assign advance = running_q && (!execute_q || done);
  assign read    = start_i || advance;

  // Instruction RAM, one memory per chunk. It is written while nothing is read (asserted
  // below), so its two ports never meet.
  for (genvar c = 0; c < Chunks; c++) begin : gen_chunk
    logic                 hit;
    logic [ChunkBits-1:0] unused_watch;
    if (SlotBits == 0) begin : gen_one
      assign hit = cfg_write_i;
    end else begin : gen_many
      assign hit = cfg_write_i && cfg_addr_i[SlotBits-1:0] == SlotBits'(c);
    end
    block_ram #(
        .Width(ChunkBits),
        .Rows (Instructions)
    ) u_chunk (
        .clk_i,
        .write_i     (hit),
        .write_addr_i(cfg_addr_i[SlotBits+:PcBits]),
        .write_data_i(cfg_data_i),
        .read_i      (read),
        .clear_i     (1'b0),
        .read_addr_i (address),
        .read_data_o (hold_q[c*ChunkBits+:ChunkBits]),
        .watch_clk_i (1'b0),
        .watch_addr_i('0),
        .watch_data_o(unused_watch)
    );
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      running_q <= 1'b0;
      execute_q <= 1'b0;
    end else if (start_i) begin
      running_q <= 1'b1;
      execute_q <= 1'b0;
    end else if (advance) begin
      running_q <= !(done && set.op == isa_pkg::OpHalt);
      execute_q <= !(done && set.op == isa_pkg::OpHalt) && !jump;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      pc_q      <= address + 1'b1;
      hold_pc_q <= address;
    end
    if (advance) begin
      word_q       <= hold_q[isa_pkg::InstBits-1:0];
      execute_pc_q <= hold_pc_q;
    end
  end

  // Where the start and every restart begin. An entry may be written in the cycle of the
  // start, so it is looked at on its way in.
  logic [PcBits-1:0] entry_q, entry;
  assign entry = cfg_entry_i ? cfg_data_i[PcBits-1:0] : entry_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) entry_q <= '0;
    else entry_q <= entry;
  end

  // Address registers; register 0 stays zero.
  // Each has a slot of 32 bits: a stride that is a power of two selects without a multiplier.
  logic [isa_pkg::SeqRegs*32-1:0] regs;
  isa_pkg::setreg_inst_t          set;
  logic                           done;
  assign set = word_q;
  assign regs[31:0] = '0;
  for (genvar r = 1; r < isa_pkg::SeqRegs; r++) begin : gen_reg
    logic [17:0] value_q;
    assign regs[r*32+:32] = {14'b0, value_q};
    always_ff @(posedge clk_i) begin
      if (rst_i) value_q <= '0;
      else if (done && set.index == 3'(r)) begin
        if (set.op == isa_pkg::OpSetreg) value_q <= set.imm;
        else if (set.op == isa_pkg::OpAddreg) value_q <= value_q + set.imm;
      end
    end
  end

  // Bases with their registers added, in the bits that the ring of the stream moves.
  function automatic logic [17:0] added(input logic [17:0] base, input logic [17:0] value,
                                        input logic [3:0] ring);
    logic [17:0] moving;
    moving = machine_pkg::ring_bits(ring);
    added  = (base & ~moving) | ((base + value) & moving);
  endfunction

  isa_pkg::mm_inst_t mm, mm_based;
  isa_pkg::vec_inst_t vec, vec_based;
  isa_pkg::input_inst_t in, in_based;
  assign mm  = word_q;
  assign vec = word_q;
  assign in  = word_q;
  always_comb begin
    mm_based   = mm;
    mm_based.x = 16'(added({2'b0, mm.x}, regs[{mm.x_reg, 5'b0}+:18], mm.x_ring));
    mm_based.w = mm.w + regs[{mm.w_reg, 5'b0}+:16];
    mm_based.p = mm.p + regs[{mm.p_reg, 5'b0}+:12];

    vec_based     = vec;
    vec_based.a   = 16'(added({2'b0, vec.a}, regs[{vec.a_reg, 5'b0}+:18], vec.a_ring));
    vec_based.b   = 16'(added({2'b0, vec.b}, regs[{vec.b_reg, 5'b0}+:18], vec.b_ring));
    vec_based.c   = 16'(added({2'b0, vec.c}, regs[{vec.c_reg, 5'b0}+:18], vec.c_ring));
    vec_based.dst = added(vec.dst, regs[{vec.dst_reg, 5'b0}+:18], vec.dst_ring);

    in_based     = in;
    in_based.dst = added(in.dst, regs[{in.dst_reg, 5'b0}+:18], in.dst_ring);
  end

  logic [2:0] unit;
  assign unit = {set.op == isa_pkg::OpInput, set.op == isa_pkg::OpVec, set.op == isa_pkg::OpMm};
  assign done = execute_q && (unit & full_i) == '0;
  assign push_o = done ? unit : '0;
  assign pc_o = execute_pc_q;
  assign inst_o = unit[0] ? mm_based : unit[1] ? vec_based : in_based;

  // Hardware loops, a stack: the first instruction, the iterations left, and whether more
  // than one is left. The innermost loop is the lowest; hold has the instruction behind the
  // one in execute.
  isa_pkg::loop_inst_t                 loop;
  logic [isa_pkg::SeqLoops*PcBits-1:0] loop_pc_q;
  logic [isa_pkg::SeqLoops*16-1:0]     loop_left_q;
  logic [isa_pkg::SeqLoops-1:0]        loop_more_q;
  logic                                open, again, close;

  assign loop    = word_q;
  assign open    = done && set.op == isa_pkg::OpLoop;
  assign again   = done && set.op == isa_pkg::OpEndloop && loop_more_q[0];
  assign close   = done && set.op == isa_pkg::OpEndloop && !loop_more_q[0];
  assign jump    = again || (done && set.op == isa_pkg::OpRestart);
  assign address = again            ? loop_pc_q[PcBits-1:0]
                 : start_i || jump  ? entry
                                    : pc_q;

  always_ff @(posedge clk_i) begin
    if (open) begin
      loop_pc_q   <= {loop_pc_q[(isa_pkg::SeqLoops-1)*PcBits-1:0], hold_pc_q};
      loop_left_q <= {loop_left_q[(isa_pkg::SeqLoops-1)*16-1:0], loop.count};
      loop_more_q <= {loop_more_q[isa_pkg::SeqLoops-2:0], loop.count != 16'd1};
    end else if (close) begin
      loop_pc_q   <= loop_pc_q >> PcBits;
      loop_left_q <= loop_left_q >> 16;
      loop_more_q <= loop_more_q >> 1;
    end else if (again) begin
      loop_left_q[15:0] <= loop_left_q[15:0] - 16'd1;
      loop_more_q[0]    <= loop_left_q[15:0] != 16'd2;
    end
  end

  // ---- watching -----------------------------------------------------------------
  logic [2:0] state;
  assign state = !running_q         ? machine_pkg::StateIdle
               : execute_q && !done ? machine_pkg::SequencerQueueFull
                                    : machine_pkg::StateBusy;

  unit_counters u_counters (
      .clk_i,
      .rst_i,
      .start_i,
      .state_i         (state),
      .readback_clk_i,
      .readback_state_i,
      .readback_count_o(count_o)
  );

  // What waits for a queue stays as it is.
  stream_check #(
      .Width(PcBits + isa_pkg::InstBits)
  ) u_check (
      .clk_i,
      .rst_i  (rst_i || start_i),
      .valid_i(execute_q),
      .ready_i(done),
      .data_i ({execute_pc_q, inst_o})
  );

  `SLUICE_ASSERT(!((cfg_write_i || cfg_entry_i) && running_q))
  `SLUICE_ASSERT(!(cfg_write_i && start_i))
  `SLUICE_ASSERT(!cfg_entry_i || {1'b0, cfg_data_i[15:0]} < 17'(Instructions))
  `SLUICE_ASSERT(!cfg_write_i || {1'b0, cfg_addr_i} < 17'(Instructions << SlotBits))
  `SLUICE_ASSERT(!execute_q || {1'b0, execute_pc_q} < (PcBits + 1)'(Instructions))
  `SLUICE_ASSERT(!execute_q || running_q)
  `SLUICE_ASSERT((push_o & full_i) == '0 && (push_o & (push_o - 1'b1)) == '0)
endmodule
