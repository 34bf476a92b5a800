// The address of a stream with a ring: the bits above the ring are those of the base,
// on every beat of the nest.
`include "assert.svh"

module ring_address #(
    parameter int unsigned Width = 8
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  machine_pkg::step_t step_i,
    input  logic [Width-1:0]   base_i,
    input  logic [4*Width-1:0] stride_i,
    input  logic [3:0]         ring_i,
    output logic [Width-1:0]   address_o
);
  logic             loaded_q;  // a nest, and with it these
  logic [Width-1:0] base_q;
  logic [3:0]       ring_q;

  loop_address #(
      .Width(Width),
      .Rings(1'b1)
  ) u_address (
      .clk_i, .step_i, .base_i, .stride_i, .ring_i, .address_o
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) loaded_q <= 1'b0;
    else if (step_i.move && step_i.load) loaded_q <= 1'b1;
    if (step_i.move && step_i.load) begin
      base_q <= base_i;
      ring_q <= ring_i;
    end
  end
endmodule
