// after_q is a run of ones up to the top.
wire [Requesters-1:0] low = ~after_q;
always @* if (!rst_i) assert ((low & (low + 1'b1)) == '0);
// Nobody is granted again while one after it asks.
always @* if (!rst_i) assert ((grant_o & ~after_q) == '0 || later == '0);
