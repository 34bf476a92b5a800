// The issue stage of a unit: instructions wait in a queue, one is active; its beats
// issue in order when the wait of the beat is satisfied and the unit is not blocked.
//
// The active instruction is replaced in the cycle its last beat issues, so that
// consecutive instructions run without a bubble. The streams' addresses belong to
// the unit: it feeds loop_address with step_o and next_o.
`include "assert.svh"

module unit_front #(
    parameter int unsigned PcBits = 9,
    parameter int unsigned Gives  = 3
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               start_i,
    // from the sequencer
    input  logic                               push_i,
    input  logic [isa_pkg::InstBits-1:0]       inst_i,
    input  logic [PcBits-1:0]                  pc_i,
    output logic                               full_o,
    // tokens given to this unit
    input  logic [Gives-1:0]                   give_i,
    input  logic [Gives*5-1:0]                 give_token_i,
    // the active instruction and its current beat
    output logic [isa_pkg::InstBits-1:0]       inst_o,
    output machine_pkg::place_t                place_o,
    input  logic [2:0]                         block_i,  // why the unit cannot take the beat
    output machine_pkg::step_t                 step_o,
    output logic [isa_pkg::InstBits-1:0]       next_o,   // the instruction that step_o loads
    output logic [4:0]                         next_last_o, // of the beat that step_o moves to
    // for watching
    output logic                               fault_o,
    input  logic                               readback_clk_i,
    input  logic [2:0]                         readback_state_i,
    output logic [machine_pkg::StatusBits-1:0] status_o,
    output logic [machine_pkg::CounterBits-1:0] count_o
);
  // Every unit instruction starts with the same loop, wait and signal fields.
  isa_pkg::mm_inst_t                   pushed, next, inst_q;
  logic                                next_valid, active_q, wait_q, enough;
  logic                                may_issue, issue, move, load, replace;
  logic [4:0]                          first, last, next_first;
  logic [1:0]                          loop;
  logic [PcBits-1:0]                   pc_q, next_pc;
  logic [PcBits+isa_pkg::InstBits-1:0] head;
  logic [4:0]                          token, next_token;
  logic [7:0]                          have;
  logic [2:0]                          state;

  // ---- queue and active instruction -----------------------------------------------
  assign pushed = inst_i;

  fifo_ahead #(
      .Width(PcBits + isa_pkg::InstBits),
      .Ahead(5),
      .Depth(isa_pkg::UnitQueueDepth)
  ) u_queue (
      .clk_i,
      .rst_i,
      .push_i,
      .data_i ({pc_i, inst_i}),
      .ahead_i(pushed.wait_token),
      .pop_i  (replace && next_valid),
      .valid_o(next_valid),
      .head_o (head),
      .ahead_o(next_token),
      .full_o
  );

  assign next    = head[isa_pkg::InstBits-1:0];
  assign next_pc = head[isa_pkg::InstBits+:PcBits];
  assign next_o  = head[isa_pkg::InstBits-1:0];
  assign inst_o  = inst_q;

  // Loading needs no knowledge of the issue decision beyond the enable: the next
  // instruction follows when none is active or the current beat is the last.
  assign load    = !active_q || last[0];
  assign move    = issue || (!active_q && next_valid);
  assign replace = move && load;
  assign step_o  = {issue, move, load, loop};

  always_ff @(posedge clk_i) begin
    if (rst_i) active_q <= 1'b0;
    else if (replace) active_q <= next_valid;
  end

  always_ff @(posedge clk_i) begin
    if (replace && next_valid) begin
      inst_q <= next;
      pc_q   <= next_pc;
    end
  end

  loop_nest u_nest (
      .clk_i,
      .rst_i,
      .move_i (move),
      .load_i (load),
      .n_i    (next.n),
      .first_o(first),
      .last_o (last),
      .next_first_o(next_first),
      .next_last_o,
      .step_o (loop)
  );

  // ---- wait and issue -----------------------------------------------------------
  token_bank #(
      .Gives(Gives)
  ) u_tokens (
      .clk_i,
      .rst_i,
      .give_i,
      .give_token_i,
      .load_i      (replace),
      .load_token_i(next_token),
      .load_step_i (next.wait_step),
      .step_i      (inst_q.wait_step),
      .need_i      (inst_q.wait_count),
      .enough_o    (enough),
      .take_i      (issue && wait_q),
      .token_o     (token),
      .have_o      (have),
      .fault_o
  );

  // Whether the beat waits is known with it: the decision to issue starts at a register.
  always_ff @(posedge clk_i) begin
    if (move) wait_q <= load ? next.wait_en : inst_q.wait_en && next_first[inst_q.wait_level];
  end
  assign may_issue = active_q && (!wait_q || enough);
  assign issue     = may_issue && block_i == machine_pkg::BlockNone;
  assign place_o   = {may_issue, first, last};

  // A beat stays the current one until it issues.
  stream_check #(
      .Width(isa_pkg::InstBits + 15)
  ) u_check (
      .clk_i,
      .rst_i,
      .valid_i(active_q),
      .ready_i(issue),
      .data_i ({inst_q, first, last, token})
  );

  // ---- watching -----------------------------------------------------------------
  assign state = !active_q ? machine_pkg::BlockIdle : !may_issue ? machine_pkg::BlockToken : block_i;

  unit_counters u_counters (
      .clk_i,
      .rst_i,
      .start_i,
      .state_i         (state),
      .readback_clk_i,
      .readback_state_i,
      .readback_count_o(count_o)
  );

  // Made in the readback clock's domain: nothing is computed while nobody looks.
  machine_pkg::status_t status_q;
  assign status_o = status_q;

  always_ff @(posedge readback_clk_i) begin
    status_q       <= '0;
    status_q.block <= state;
    if (active_q) status_q.pc <= 16'(pc_q);
    if (active_q && !may_issue) begin
      status_q.token <= token;
      status_q.have  <= have;
      status_q.need  <= inst_q.wait_count;
    end
  end
endmodule
