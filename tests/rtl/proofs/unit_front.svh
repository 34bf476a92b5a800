always @* assume (!(push_i && full_o));

// Nothing waits in the queue while the unit has no instruction to do.
always @* if (!rst_i) assert (!(next_valid && !active_q && !move));
// What issues is an active beat whose tokens are there and which is not blocked.
always @* if (!rst_i && issue) assert (active_q && (!wait_beat || enough) && block_i == '0);
