// The address of one operand stream over a loop nest: base + sum of trip * stride,
// modulo the width, or modulo a ring of 2^ring_i addresses whose place the upper bits
// of the base give. Keeps one partial address per loop instead of multiplying.
`include "assert.svh"

module loop_address #(
    parameter int unsigned Width = 16,
    parameter bit Rings          = 1'b0
) (
    input  logic               clk_i,
    input  machine_pkg::step_t step_i,
    input  logic [Width-1:0]   base_i,
    input  logic [4*Width-1:0] stride_i,  // of the nest being loaded, loop 0 lowest
    input  logic [3:0]         ring_i,    // of the same; 0: no ring
    output logic [Width-1:0]   address_o  // of the current beat
);
  // partial[l]: the address at the first beat of loop l's current trip.
  // Each has a slot of 32 bits: a stride that is a power of two selects without a multiplier.
  localparam int unsigned Slot = 32;
  `SLUICE_REQUIRE(Width < Slot)
  logic [4*Width-1:0] stride_q, partial_q;
  logic [4*Slot-1:0]  strides, partials;
  logic [Width-1:0]   from, moving, next;
  logic [3:0]         touched;  // the loop that advances and those inside it

  // All partial addresses agree in the bits that a ring does not move.
  assign from      = partials[{step_i.loop, 5'b0}+:Width];
  assign next      = ((from + strides[{step_i.loop, 5'b0}+:Width]) & moving) | (from & ~moving);
  assign touched   = 4'b1111 << step_i.loop;
  assign address_o = partial_q[3*Width+:Width];

  always_ff @(posedge clk_i) begin
    if (step_i.move && step_i.load) stride_q <= stride_i;
  end

  if (Rings) begin : gen_ring
    logic [Width-1:0] moving_q;
    assign moving = moving_q;
    always_ff @(posedge clk_i) begin
      if (step_i.move && step_i.load) moving_q <= Width'(machine_pkg::ring_bits(ring_i));
    end
  end else begin : gen_line
    assign moving = '1;
  end

  for (genvar l = 0; l < 4; l++) begin : gen_loop
    assign partials[l*Slot+:Slot] = Slot'(partial_q[l*Width+:Width]);
    assign strides[l*Slot+:Slot]  = Slot'(stride_q[l*Width+:Width]);
    always_ff @(posedge clk_i) begin
      if (step_i.move && (step_i.load || touched[l])) begin
        partial_q[l*Width+:Width] <= step_i.load ? base_i : next;
      end
    end
  end
endmodule
