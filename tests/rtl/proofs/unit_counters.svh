// The counters add up to the cycles since the start.
reg [Width-1:0] cycles_q;
reg [Width-1:0] sum;
wire [8*Width-1:0] counts;
always @(posedge clk_i) cycles_q <= rst_i || start_i ? '0 : cycles_q + running_q;
always @* begin
  sum = counted_q;
  for (int i = 0; i < 8; i++) sum = sum + (written_q[i] ? counts[i*Width+:Width] : '0);
end
always @* if (!rst_i) assert (sum == cycles_q);
