// Memories of many depths and multipliers of several widths, with common inputs.
module all_cells (
    input  logic         clk_i,
    input  logic         write_i,
    input  logic [13:0]  write_addr_i,
    input  logic [19:0]  write_data_i,
    input  logic         read_i,
    input  logic [27:0]  read_addr_i,  // of two ports
    input  logic         keep_i,
    output logic [279:0] read_data_o,  // of memories of 2^4, 2^10 to 2^14 and 600 rows: 40 bits each
    input  logic         enable_i,
    input  logic [17:0]  left_i,
    input  logic [17:0]  right_i,
    output logic [143:0] product_o     // of 8, 9, 12 and 18 bits: 36 bits each
);
  for (genvar i = 0; i < 7; i++) begin : gen_ram
    localparam int unsigned Rows = i == 0 ? 16 : i == 6 ? 600 : 1 << (9 + i);
    localparam int unsigned Bits = $clog2(Rows);
    late_ram #(
        .Width(20),
        .Rows (Rows),
        .Ports(2)
    ) u_ram (
        .clk_i,
        .write_i,
        .write_addr_i(write_addr_i[Bits-1:0]),
        .write_data_i,
        .read_i,
        .read_addr_i ({read_addr_i[14+:Bits], read_addr_i[0+:Bits]}),
        .keep_i,
        .read_data_o (read_data_o[i*40+:40])
    );
  end

  for (genvar i = 0; i < 4; i++) begin : gen_multiplier
    localparam int unsigned Width = i == 0 ? 8 : i == 1 ? 9 : i == 2 ? 12 : 18;
    logic [2*Width-1:0] product;
    multiplier #(
        .Width(Width)
    ) u_multiplier (
        .clk_i, .enable_i, .left_i(left_i[Width-1:0]), .right_i(right_i[Width-1:0]), .product_o(product)
    );
    assign product_o[i*36+:36] = 36'(product);
  end
endmodule
