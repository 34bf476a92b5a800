// Of every loop's partial address: the last is the one that leaves.
wire [4*Width-1:0] partial;
wire [Width-1:0]   moving;
wire [Width-1:0]   expected = ring_q == '0 ? {Width{1'b1}} : (1 << ring_q) - 1;
always @* if (!rst_i && loaded_q) assert (moving == expected);
for (genvar p = 0; p < 4; p++) begin : gen_proof
  always @* if (!rst_i && loaded_q && ring_q != '0)
    assert (partial[p*Width+:Width] >> ring_q == base_q >> ring_q);
end
