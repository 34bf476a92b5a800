// The performance counters of one unit: how many cycles since the start it spent
// in each of eight states. A cycle is in one state, so the counters add up to the
// cycles run. One adder and one small memory, whose words count as zero until they
// are written: a start clears them all at once.
module unit_counters #(
    parameter int unsigned Width = machine_pkg::CounterBits
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             start_i,
    input  logic [2:0]       state_i,   // in this cycle
    // read with the readback clock, while clk_i rests
    input  logic             readback_clk_i,
    input  logic [2:0]       readback_state_i,
    output logic [Width-1:0] readback_count_o
);
  logic [Width-1:0] count, readback_count;  // of state_q and of readback_state_i, old
  logic [7:0]       written_q;
  logic             running_q, counted_q;  // counted_q: the cycle before was one
  logic [2:0]       state_q;               // of the cycle before, not in the memory yet

  always_ff @(posedge clk_i) begin
    if (rst_i || start_i) begin
      running_q <= !rst_i;
      counted_q <= 1'b0;
      written_q <= '0;
    end else begin
      counted_q <= running_q;
      if (counted_q) written_q[state_q] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (running_q) state_q <= state_i;
  end

  lut_ram #(
      .Width(Width),
      .Rows (8),
      .Ports(2)
  ) u_counts (
      .clk_i,
      .read_addr_i ({readback_state_i, state_q}),
      .read_data_o ({readback_count, count}),
      .write_i     (counted_q),
      .write_addr_i(state_q),
      .write_data_i((written_q[state_q] ? count : '0) + 1'b1)
  );

  always_ff @(posedge readback_clk_i) begin
    readback_count_o <= (written_q[readback_state_i] ? readback_count : '0) +
                        Width'(counted_q && state_q == readback_state_i);
  end
endmodule
