// The anchor's half of an anchored add: the common anchor and how many bytes each
// side moves down to it (7 for "only sign bits are left"). Combinational; the
// integers are moved and added one stage later.
module anchor_add (
    input  logic [5:0] left_i,
    input  logic [5:0] right_i,
    output logic [5:0] anchor_o,
    output logic [2:0] move_left_o,
    output logic [2:0] move_right_o
);
  logic [6:0] ahead, behind;  // right - left, left - right

  assign ahead  = {1'b0, right_i} - {1'b0, left_i};
  assign behind = {1'b0, left_i} - {1'b0, right_i};

  assign anchor_o     = ahead[6] ? left_i : right_i;
  assign move_left_o  = ahead[6] ? 3'd0 : ahead[2:0] | {3{ahead[5:3] != '0}};
  assign move_right_o = behind[6] ? 3'd0 : behind[2:0] | {3{behind[5:3] != '0}};
endmodule
