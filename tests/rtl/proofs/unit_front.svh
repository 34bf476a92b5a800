always @* assume (!(push_i && full_o));

// Nothing waits in the queue while the unit has no instruction to do.
always @* if (!rst_i) assert (!(next_valid && !active_q && !move));
// The loader takes no instruction that waits at a level beyond 4.
always @* if (next_valid) assume (next.wait_level <= 3'd4);
always @* if (!rst_i && active_q) assert (inst_q.wait_level <= 3'd4);
// The beats that wait are those that the instruction names.
wire names_wait = inst_q.wait_en && first[inst_q.wait_level];
always @* if (!rst_i && active_q) assert (wait_q == names_wait);
// What issues is an active beat whose tokens are there and which is not blocked.
always @* if (!rst_i && issue) assert (active_q && (!names_wait || enough) && block_i == '0);
