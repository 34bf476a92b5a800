// What a beat has yet to pass, beside its lanes in a unit of Stages stages.
// Inputs in cycle t; next_o and way_o in t + Stages, registered. next_o names the unit
// that the beat enters then, and is zero where no beat leaves. soon_o is next_o one
// cycle ahead.
`include "assert.svh"

module beat_way #(
    parameter int unsigned Stages = 6
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               valid_i,
    input  machine_pkg::way_t  way_i,    // behind the unit
    output machine_pkg::stop_t soon_o,
    output machine_pkg::stop_t next_o,
    output machine_pkg::way_t  way_o
);
  `SLUICE_REQUIRE(Stages >= 3)

  localparam int unsigned Bits = machine_pkg::WayBits;

  logic [Stages-2:0]            valid_q;  // [k]: a beat is in stage k+2
  logic [(Stages-1)*Bits-1:0]   ways_q;
  machine_pkg::way_t            last;

  assign last   = ways_q[(Stages-2)*Bits+:Bits];
  assign soon_o = {4{valid_q[Stages-2]}} & machine_pkg::stop_of(last.lookup, last.reduce != '0, last.alu2);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_q <= '0;
      next_o  <= '0;
    end else begin
      valid_q <= {valid_q[Stages-3:0], valid_i};
      next_o  <= soon_o;
    end
  end
  always_ff @(posedge clk_i) begin
    ways_q <= {ways_q[(Stages-2)*Bits-1:0], way_i};
    way_o  <= last;
  end
endmodule
