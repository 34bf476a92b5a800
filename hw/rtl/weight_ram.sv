// Weights of one processing element: one word of Terms elements per block. The
// word read in cycle t is at the output in t+1; a write of cycle t is seen by reads
// from t+1 on.
module weight_ram #(
    parameter int unsigned Terms     = 4,
    parameter int unsigned Blocks    = 64,
    localparam int unsigned AddrBits = $clog2(Blocks)
) (
    input  logic                clk_i,
    input  logic                read_i,
    input  logic [AddrBits-1:0] read_addr_i,
    output logic [Terms*16-1:0] read_data_o,
    input  logic [Terms-1:0]    write_i,       // per element
    input  logic [AddrBits-1:0] write_addr_i,
    input  logic [Terms*16-1:0] write_data_i
);
  logic [Terms*16-1:0] mem[Blocks];

  always_ff @(posedge clk_i) begin
    if (read_i) read_data_o <= mem[read_addr_i];
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Terms; i++) begin
      if (write_i[i]) mem[write_addr_i][i*16+:16] <= write_data_i[i*16+:16];
    end
  end
endmodule
