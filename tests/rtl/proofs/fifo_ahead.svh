// The owner neither pushes into a full queue nor pops an empty one.
always @* assume (!(push_i && full_o) && !(pop_i && !valid_o));
// Whether it is full follows from the pointers (fifo_pointers); here it is about contents.
wire [$clog2(Depth):0] at_wr, at_rd;
wire [$clog2(Depth):0] used = at_wr - at_rd;
always @* if (!rst_i) assert (used <= Depth);
wire [Depth*Ahead-1:0] aheads;
// The register has the bits of the head.
always @* if (!rst_i && valid_o) assert (ahead_o == aheads[rd*Ahead+:Ahead]);
