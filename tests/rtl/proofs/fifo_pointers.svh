// The owner neither pushes into a full queue nor pops an empty one.
always @* assume (!(push_i && full_o) && !(pop_i && !valid_o));

wire [PtrBits:0] used = wr_q - rd_q;
always @* if (!rst_i) assert (used <= Depth);
