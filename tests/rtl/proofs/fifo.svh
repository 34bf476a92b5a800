// The owner neither pushes into a full queue nor pops an empty one.
always @* assume (!(push_i && full_o) && !(pop_i && !valid_o));
// It writes what it pushes, and only where there is room.
always @* assume (!(push_i && !write_i) && !(write_i && full_o));
// Whether it is full follows from the pointers (fifo_pointers); here it is about contents.
wire [$clog2(Depth):0] at_wr, at_rd;
wire [$clog2(Depth):0] used = at_wr - at_rd;
always @* if (!rst_i) assert (used <= Depth);
