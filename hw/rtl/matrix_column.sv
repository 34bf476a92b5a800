// One output lane of the matrix unit: a chain of processing elements, each with
// its slice of x and of the lane's weights. Element p works max(0, p-1) cycles
// later than the first, whose x_i comes in cycle t; all inputs of element p come at
// its own time, skewed outside. The chain's sum is registered in t+4+Elements and
// its anchor is shown one cycle earlier.
module matrix_column #(
    parameter int unsigned Elements  = 2,
    parameter int unsigned Terms     = 4,
    parameter int unsigned Blocks    = 64,
    localparam int unsigned AddrBits = $clog2(Blocks)
) (
    input  logic                           clk_i,
    input  logic [Elements-1:0]            read_i,
    input  logic [Elements-1:0]            keep_i,
    input  logic [Elements*AddrBits-1:0]   block_i,
    input  logic [Elements*6-1:0]          stage_i,
    input  logic [Elements*Terms*16-1:0]   x_i,
    input  logic [Elements*Terms-1:0]      write_i,
    input  logic [AddrBits-1:0]            write_block_i,
    input  logic [Elements*Terms*16-1:0]   write_data_i,
    output logic [5:0]                     anchor_o,
    output logic [isa_pkg::AccBits-1:0]    sum_o
);
  for (genvar p = 0; p < Elements; p++) begin : gen_element
    logic [5:0]                  chain_anchor, anchor;
    logic [isa_pkg::AccBits-1:0] chain_sum, sum;

    if (p == 0) begin : gen_first
      assign chain_anchor = '0;
      assign chain_sum    = '0;
    end else begin : gen_next
      assign chain_anchor = gen_element[p-1].anchor;
      assign chain_sum    = gen_element[p-1].sum;
    end

    fdot_pe #(
        .Terms  (Terms),
        .Blocks (Blocks),
        .Chained(p != 0)
    ) u_pe (
        .clk_i,
        .read_i        (read_i[p]),
        .keep_i        (keep_i[p]),
        .block_i       (block_i[p*AddrBits+:AddrBits]),
        .stage_i       (stage_i[p*6+:6]),
        .x_i           (x_i[p*Terms*16+:Terms*16]),
        .write_i       (write_i[p*Terms+:Terms]),
        .write_block_i,
        .write_data_i  (write_data_i[p*Terms*16+:Terms*16]),
        .chain_anchor_i(chain_anchor),
        .chain_sum_i   (chain_sum),
        .anchor_o      (anchor),
        .sum_o         (sum)
    );
  end

  assign anchor_o = gen_element[Elements-1].anchor;
  assign sum_o    = gen_element[Elements-1].sum;
endmodule
