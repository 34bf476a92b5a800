// Trip counts are at least one; a nest is loaded before it steps, and replaced in
// the cycle of its last step (unit_front, whose proof includes this).
reg loaded_q;
always @(posedge clk_i) loaded_q <= !rst_i && (loaded_q || (move_i && load_i));
always @* assume (!(move_i && !load_i && (last_o[0] || !loaded_q)));

for (genvar p = 0; p < Depth; p++) begin : gen_proof
  always @* assume (!load_i || n_i[p*12+:12] != '0);
  always @* if (!rst_i && loaded_q) begin
    assert (left_q[p] < n_q[p]);
    assert (first_q[p] == (left_q[p] == n_q[p] - 12'd1));
    assert (last_q[p] == (left_q[p] == '0));
    assert (single_q[p] == (n_q[p] == 12'd1));
  end
end
