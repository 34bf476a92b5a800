// The address of one operand stream over a loop nest: base + sum of trip * stride,
// modulo the width. Keeps one partial address per loop instead of multiplying.
module loop_address #(
    parameter int unsigned Width = 16
) (
    input  logic               clk_i,
    input  machine_pkg::step_t step_i,
    input  logic [Width-1:0]   base_i,
    input  logic [4*Width-1:0] stride_i,  // of the nest being loaded, loop 0 lowest
    output logic [Width-1:0]   address_o  // of the current beat
);
  // partial[l]: the address at the first beat of loop l's current trip.
  logic [4*Width-1:0] stride_q, partial_q;
  logic [Width-1:0]   next;
  logic [3:0]         touched;  // the loop that advances and those inside it

  assign next      = partial_q[step_i.loop*Width+:Width] + stride_q[step_i.loop*Width+:Width];
  assign touched   = 4'b1111 << step_i.loop;
  assign address_o = partial_q[3*Width+:Width];

  always_ff @(posedge clk_i) begin
    if (step_i.move && step_i.load) stride_q <= stride_i;
  end

  for (genvar l = 0; l < 4; l++) begin : gen_loop
    always_ff @(posedge clk_i) begin
      if (step_i.move && (step_i.load || touched[l])) begin
        partial_q[l*Width+:Width] <= step_i.load ? base_i : next;
      end
    end
  end
endmodule
