// What is outstanding is in the pipeline or in the FIFO.
wire [2:0] outstanding, wr, rd;
reg  [2:0] flying;
always @* begin
  flying = '0;
  for (int i = 0; i < Delay; i++) flying = flying + pipe_q[i];
end
wire [2:0] stored = wr - rd;
always @* if (!rst_i) assert (stored <= Depth && outstanding == stored + flying);
