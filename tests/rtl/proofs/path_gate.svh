// A beat issues only if it is not held; the active path changes only where one is loaded.
always @* assume (!(issue_i && held_o) && (!issue_i || move_i) && (!move_i || issue_i || load_i));
logic [4:0] loaded_q;
logic       started_q = 1'b0;
always_ff @(posedge clk_i) begin
  started_q <= 1'b1;
  loaded_q  <= move_i && load_i ? next_path_i : path_i;
end
always @* if (started_q) assume (path_i == loaded_q);
// Beats enter when they are due.
wire [2:0] due_now = {gen_place[2].due_q[0], gen_place[1].due_q[0], gen_place[0].due_q[0]};
always @* assume (entered_i == due_now);

// The active beat is held exactly if a beat before it would enter a place with it or later.
wire [31:0] due0 = gen_place[0].due_q >> stages[4:0] >> 2;
wire [31:0] due1 = gen_place[1].due_q >> stages[9:5] >> 2;
wire [31:0] due2 = gen_place[2].due_q >> stages[14:10] >> 2;
wire behind = (places[0] && due0 != '0) || (places[1] && due1 != '0) || (places[2] && due2 != '0);
always @* if (!rst_i) assert (held_o == behind);
// Two beats never enter one place in one cycle.
wire [2:0] twice = {gen_place[2].due_q[stages[14:10]+5'd2], gen_place[1].due_q[stages[9:5]+5'd2],
                    gen_place[0].due_q[stages[4:0]+5'd2]};
always @* if (!rst_i && issue_i) assert ((twice & places) == '0);
for (genvar i = 0; i < 3; i++) begin : gen_last
  // The count is that of the last beat which is on its way to the place.
  wire [31:0] beyond = gen_place[i].due_q >> gen_place[i].least_q >> 2;
  wire        there  = gen_place[i].due_q[gen_place[i].least_q + 5'd1];
  always @* if (!rst_i) assert (beyond == '0 && (gen_place[i].least_q == '0 || there));
end
