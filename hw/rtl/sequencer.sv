// Walks through the instruction RAM from the entry on, two cycles per instruction:
// fetch, execute.
// Unit instructions go to their unit's queue with the address registers added to
// their bases; execute repeats while that queue is full.
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
  localparam int unsigned Stack    = $clog2(isa_pkg::SeqLoops);

  `SLUICE_REQUIRE(Instructions >= 2 && (Instructions << SlotBits) <= 65536)

  localparam logic [1:0] Stopped = 2'd0;
  localparam logic [1:0] Fetch = 2'd1;
  localparam logic [1:0] Execute = 2'd2;

  logic [1:0]                state_q;
  logic [PcBits-1:0]         pc_q;
  logic [Chunks*ChunkBits-1:0] word_q;
  logic [isa_pkg::InstBits-1:0]       word;

  assign word = word_q[isa_pkg::InstBits-1:0];

  // Instruction RAM, one memory per chunk.
  for (genvar c = 0; c < Chunks; c++) begin : gen_chunk
    logic [ChunkBits-1:0] mem[Instructions];
    logic                 hit;
    if (SlotBits == 0) begin : gen_one
      assign hit = cfg_write_i;
    end else begin : gen_many
      assign hit = cfg_write_i && cfg_addr_i[SlotBits-1:0] == SlotBits'(c);
    end
    always_ff @(posedge clk_i) begin
      if (hit) mem[cfg_addr_i[SlotBits+:PcBits]] <= cfg_data_i;
      if (state_q == Fetch) word_q[c*ChunkBits+:ChunkBits] <= mem[pc_q];
    end
  end

  // Where the start and every restart begin. An entry may be written in the cycle
  // before the start, so it is looked at on its way in.
  logic [PcBits-1:0] entry_q, entry;
  assign entry = cfg_entry_i ? cfg_data_i[PcBits-1:0] : entry_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) entry_q <= '0;
    else entry_q <= entry;
  end

  // Address registers; register 0 stays zero.
  logic [isa_pkg::SeqRegs*18-1:0] regs_q;
  isa_pkg::setreg_inst_t          set;
  logic                           done;
  assign set = word;
  assign regs_q[17:0] = '0;
  for (genvar r = 1; r < isa_pkg::SeqRegs; r++) begin : gen_reg
    logic [17:0] value_q;
    assign regs_q[r*18+:18] = value_q;
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
  assign mm  = word;
  assign vec = word;
  assign in  = word;
  always_comb begin
    mm_based   = mm;
    mm_based.x = 16'(added({2'b0, mm.x}, regs_q[mm.x_reg*18+:18], mm.x_ring));
    mm_based.w = mm.w + regs_q[mm.w_reg*18+:16];
    mm_based.p = mm.p + regs_q[mm.p_reg*18+:12];

    vec_based     = vec;
    vec_based.a   = 16'(added({2'b0, vec.a}, regs_q[vec.a_reg*18+:18], vec.a_ring));
    vec_based.b   = 16'(added({2'b0, vec.b}, regs_q[vec.b_reg*18+:18], vec.b_ring));
    vec_based.c   = 16'(added({2'b0, vec.c}, regs_q[vec.c_reg*18+:18], vec.c_ring));
    vec_based.dst = added(vec.dst, regs_q[vec.dst_reg*18+:18], vec.dst_ring);

    in_based     = in;
    in_based.dst = added(in.dst, regs_q[in.dst_reg*18+:18], in.dst_ring);
  end

  logic [2:0] unit;
  assign unit = {set.op == isa_pkg::OpInput, set.op == isa_pkg::OpVec, set.op == isa_pkg::OpMm};
  assign done = state_q == Execute && (unit & full_i) == '0;
  assign push_o = done ? unit : '0;
  assign pc_o = pc_q;
  assign inst_o = unit[0] ? mm_based : unit[1] ? vec_based : in_based;

  // Hardware loops: first instruction and trips left, the innermost on top.
  logic [isa_pkg::SeqLoops*PcBits-1:0] loop_pc_q;
  logic [isa_pkg::SeqLoops*16-1:0]     loop_left_q;
  logic [Stack-1:0]           top_q;  // the innermost loop; wraps when none is open
  isa_pkg::loop_inst_t                 loop;
  logic [PcBits-1:0]          next_pc, top_pc;
  logic [15:0]                top_left;
  logic                       again;
  logic [Stack-1:0]           above;

  assign loop     = word;
  assign next_pc  = pc_q + 1'b1;
  assign above    = top_q + 1'b1;
  assign top_pc   = loop_pc_q[top_q*PcBits+:PcBits];
  assign top_left = loop_left_q[top_q*16+:16];
  assign again    = top_left != 16'd1;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= Stopped;
      top_q   <= '1;
    end else begin
      if (start_i) begin
        state_q <= Fetch;
        pc_q    <= entry;
      end else if (state_q == Fetch) begin
        state_q <= Execute;
      end else if (done) begin
        state_q <= set.op == isa_pkg::OpHalt ? Stopped : Fetch;
        pc_q    <= set.op == isa_pkg::OpRestart ? entry_q
                 : set.op == isa_pkg::OpEndloop && again ? top_pc : next_pc;
        if (set.op == isa_pkg::OpLoop) top_q <= above;
        if (set.op == isa_pkg::OpEndloop && !again) top_q <= top_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (done && set.op == isa_pkg::OpLoop) begin
      loop_pc_q[above*PcBits+:PcBits] <= next_pc;
      loop_left_q[above*16+:16]       <= loop.count;
    end else if (done && set.op == isa_pkg::OpEndloop) begin
      loop_left_q[top_q*16+:16] <= top_left - 16'd1;
    end
  end

  // ---- watching -----------------------------------------------------------------
  logic [2:0] state;
  assign state = state_q == Stopped           ? machine_pkg::StateIdle
               : state_q == Execute && !done ? machine_pkg::SequencerQueueFull
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
      .valid_i(state_q == Execute),
      .ready_i(done),
      .data_i ({pc_q, inst_o})
  );

  `SLUICE_ASSERT(!((cfg_write_i || cfg_entry_i) && state_q != Stopped))
  `SLUICE_ASSERT(!cfg_entry_i || {1'b0, cfg_data_i[15:0]} < 17'(Instructions))
  `SLUICE_ASSERT(!cfg_write_i || {1'b0, cfg_addr_i} < 17'(Instructions << SlotBits))
  `SLUICE_ASSERT(state_q == Stopped || {1'b0, pc_q} < (PcBits + 1)'(Instructions))
  `SLUICE_ASSERT(state_q != 2'd3)
  `SLUICE_ASSERT((push_o & full_i) == '0 && (push_o & (push_o - 1'b1)) == '0)
endmodule
