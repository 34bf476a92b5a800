// The instruction RAM is taken out: any instruction may come, within what the loader
// checks. The program is six instructions long, its last is restart or halt.
localparam Last = 5;
wire is_loop   = set.op == isa_pkg::OpLoop;
wire is_end    = set.op == isa_pkg::OpEndloop;
wire is_last   = set.op == isa_pkg::OpRestart || set.op == isa_pkg::OpHalt;
reg [2:0] depth_q;  // loops that are open
always @* assume (!((start_i || cfg_write_i || cfg_entry_i) && running_q));
always @* assume (!(cfg_write_i && start_i));
always @* assume (!cfg_entry_i || cfg_data_i[15:0] <= Last);
always @* assume (!cfg_write_i || cfg_addr_i < Instructions);
always @* assume (!execute_q || is_last == (execute_pc_q == Last));
always @* assume (!(execute_q && is_loop) || (depth_q < isa_pkg::SeqLoops && loop.count != '0));
always @* assume (!(execute_q && is_end) || depth_q != '0);

always @(posedge clk_i) begin
  if (rst_i) depth_q <= '0;
  else if (open) depth_q <= depth_q + 1'b1;
  else if (close) depth_q <= depth_q - 1'b1;
end

always @* if (!rst_i) begin
  assert (depth_q <= isa_pkg::SeqLoops);
  assert (!execute_q || execute_pc_q <= Last);
  // Only what lies directly behind the last instruction is read and dropped.
  assert (!running_q || hold_pc_q <= Last + 1);
  assert (!execute_q || hold_pc_q == execute_pc_q + 1'b1);
  assert (!running_q || pc_q == hold_pc_q + 1'b1);
  assert (!running_q || execute_q || hold_pc_q <= Last);
  assert (entry_q <= Last);
end
for (genvar p = 0; p < isa_pkg::SeqLoops; p++) begin : gen_proof
  // Open loops have an iteration to go and begin inside the program.
  always @* if (!rst_i && p < depth_q) begin
    assert (loop_left_q[p*16+:16] != '0);
    assert (loop_more_q[p] == (loop_left_q[p*16+:16] != 16'd1));
    assert (loop_pc_q[p*PcBits+:PcBits] <= Last);
  end
end
