always @* assume (!(take_i && !enough_o));

// A wait that is served takes what is there: a counter never falls below zero.
always @* if (!rst_i && take_i) assert (count_q[token_i*9+:8] >= need_i);
