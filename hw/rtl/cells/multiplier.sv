// A multiplier of a part, with the register behind it: the product of two numbers without signs
// in cycle t is at the output in t+1 if enable_i is high in t.
module multiplier #(
    parameter int unsigned Width = 12
) (
    input  logic               clk_i,
    input  logic               enable_i,
    input  logic [Width-1:0]   left_i,
    input  logic [Width-1:0]   right_i,
    output logic [2*Width-1:0] product_o
);
  always_ff @(posedge clk_i) begin
    if (enable_i) product_o <= {{Width{1'b0}}, left_i} * {{Width{1'b0}}, right_i};
  end
endmodule
