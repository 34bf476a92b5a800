// Holds the next vector beat back until it enters every unit of its path, and the output, later
// than all beats before it. Beats of several paths are then in the pipeline together: they never
// meet, and they leave in the order of their issue.
//
// A beat that issues in t enters a unit in t + vec_read + d, where d is the length of the stages
// before the unit. All beats enter the first arithmetic unit with the same d, and the second one
// as long before the output, so only the function table, the reduction and the output are watched.
// Within an instruction all beats have the same path, so only the first one may be held.
`include "assert.svh"

module path_gate #(
    parameter int unsigned Lanes    = 8,
    parameter int unsigned VecAlu   = isa_pkg::VecAluDefault,
    parameter int unsigned VecTable = isa_pkg::VecTableDefault
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               issue_i,      // the active beat leaves
    input  logic               move_i,       // the next cycle has another active beat
    input  logic               load_i,       // with move_i: of the next instruction
    input  machine_pkg::path_t path_i,       // of the active instruction
    input  machine_pkg::path_t next_path_i,  // of the next one
    output logic               held_o,       // the active beat may not issue; registered
    // for the assertions: a beat enters {output, reduction, function table}
    input  logic [2:0]         entered_i
);
  localparam int unsigned Bits   = 5;
  localparam int unsigned Places = 3;  // function table, reduction, output
  localparam int unsigned Levels = $clog2(Lanes);
  localparam int unsigned Max    = Levels + isa_pkg::VecReduceMax;
  localparam int unsigned Argmax = Levels + isa_pkg::VecReduceArgmax;
  localparam int unsigned Sum    = (Levels + 1) / 2 + isa_pkg::VecReduceSum;

  `SLUICE_REQUIRE(isa_pkg::VecRead == 2)
  `SLUICE_REQUIRE(2 * VecAlu + VecTable + Sum < (1 << Bits) - 2)
  `SLUICE_REQUIRE(2 * VecAlu + VecTable + Argmax < (1 << Bits) - 2)

  // Returns how many stages of a path_t lie between the operands and each place.
  function automatic logic [Places*Bits-1:0] stages_of(input logic [1:0] kind, input logic alu2,
                                                       input logic looks_up, input logic alu1);
    logic [Bits-1:0] lookup, reduce, out;
    lookup = alu1 ? Bits'(VecAlu) : '0;
    reduce = lookup + (looks_up ? Bits'(VecTable) : '0);
    out    = reduce + (alu2 ? Bits'(VecAlu) : '0)
           + ({1'b0, kind} == isa_pkg::ReduceMax ? Bits'(Max)
           : {1'b0, kind} == isa_pkg::ReduceSum ? Bits'(Sum)
           : {1'b0, kind} == isa_pkg::ReduceArgmax ? Bits'(Argmax) : '0);
    stages_of = {out, reduce, lookup};
  endfunction

  logic [Places-1:0]      places, next_places, behind_issue, behind_before, held;
  logic [Places*Bits-1:0] stages, next_stages;

  assign places      = {1'b1, path_i.reduce != '0, path_i.lookup};
  assign next_places = {1'b1, next_path_i.reduce != '0, next_path_i.lookup};
  assign stages      = stages_of(path_i.reduce, path_i.alu2, path_i.lookup, path_i.alu1);
  assign next_stages = stages_of(next_path_i.reduce, next_path_i.alu2, next_path_i.lookup,
                                 next_path_i.alu1);

  for (genvar i = 0; i < Places; i++) begin : gen_place
    logic [Bits-1:0] mine, next, least_q, less, after;
    assign mine = stages[i*Bits+:Bits];
    assign next = next_stages[i*Bits+:Bits];

    // The stages that a beat of this cycle needs at least so that it comes in its turn; those
    // that one of the next cycle needs without a beat in this one, and with one.
    assign less  = least_q == '0 ? '0 : least_q - 1'b1;
    assign after = places[i] ? mine : less;
    always_ff @(posedge clk_i) begin
      if (rst_i) least_q <= '0;
      else least_q <= issue_i ? after : less;
    end

    assign behind_issue[i]  = next_places[i] && after > next;
    assign behind_before[i] = next_places[i] && less > next;
    assign held[i]          = places[i] && less > mine;

    // Bit k: a beat enters in k cycles.
    logic [(1<<Bits)-1:0] due_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) due_q <= '0;
      else due_q <= (due_q >> 1) | ((1<<Bits)'(issue_i && places[i]) << (mine + 1'b1));
    end
    `SLUICE_ASSERT(entered_i[i] == due_q[0])
    `SLUICE_ASSERT(!(issue_i && places[i] && (due_q >> mine) >> isa_pkg::VecRead != '0))
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) held_o <= 1'b0;
    else held_o <= issue_i ? load_i && behind_issue != '0
                 : move_i ? behind_before != '0 : held != '0;
  end
endmodule
