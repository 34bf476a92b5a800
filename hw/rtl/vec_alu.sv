// An arithmetic unit over a row: one operation for all lanes, fp32, any of
// isa_pkg's alu codes but pass. A beat every cycle.
// Inputs in cycle t, result_o and valid_o in t + vec_alu (Stages), registered.
module vec_alu #(
    parameter int unsigned Lanes    = 8,
    parameter int unsigned Stages   = isa_pkg::VecAluDefault,
    localparam int unsigned RowBits = Lanes * 16
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic [4:0]          op_i,
    input  logic [Lanes*32-1:0] left_i,
    input  logic [Lanes*32-1:0] right_i,
    input  logic [RowBits-1:0]  b_i,      // bf16 rows select chooses from; zero where
    input  logic [RowBits-1:0]  c_i,      // the unit never selects
    output logic                valid_o,
    output logic [Lanes*32-1:0] result_o
);
  logic [Stages-1:0] stage_q;  // [k]: a beat is in stage k+2, the last: at the output
  logic [4:0] op_q;
  logic [3:0] add_q, mul_q;
  logic       adds, muls;

  assign adds    = op_i == isa_pkg::AluAdd || op_i == isa_pkg::AluSub || op_i == isa_pkg::AluRsub;
  assign muls    = op_i == isa_pkg::AluMul;
  assign valid_o = stage_q[Stages-1];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      stage_q <= '0;
      add_q   <= '0;
      mul_q   <= '0;
    end else begin
      stage_q <= {stage_q[Stages-2:0], valid_i};
      add_q   <= {add_q[2:0], valid_i && adds};
      mul_q   <= {mul_q[2:0], valid_i && muls};
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) op_q <= op_i;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    vec_alu_lane #(
        .Stages(Stages)
    ) u_lane (
        .clk_i,
        .stage_i   ({stage_q[Stages-2:0], valid_i}),
        .add_i     (add_q),
        .mul_i     (mul_q),
        .negate_l_i(op_i == isa_pkg::AluRsub),
        .negate_r_i(op_i == isa_pkg::AluSub),
        .op_i      (op_q),
        .left_i    (left_i[i*32+:32]),
        .right_i   (right_i[i*32+:32]),
        .b_i       (b_i[i*16+:16]),
        .c_i       (c_i[i*16+:16]),
        .result_o  (result_o[i*32+:32])
    );
  end
endmodule
