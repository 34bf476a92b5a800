always @* assume (!(take_i && !enough_o));

// The register has the count of the token waited for.
always @* if (!rst_i) assert (have_q == count_q[token_q*9+:8]);
// A wait that is served takes what is there: a counter never falls below zero.
always @* if (!rst_i && take_i) assert (count_q[token_q*9+:8] >= need_i);
