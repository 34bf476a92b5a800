// The entries of the function tables with one read port per lane, in hardware one
// copy per lane or pair of lanes. A read registers its address; the entry of cycle
// t's address is at the output in t+1.
module table_ram #(
    parameter int unsigned Lanes    = 8,
    parameter int unsigned AddrBits = 14
) (
    input  logic                      clk_i,
    input  logic                      read_i,
    input  logic [Lanes*AddrBits-1:0] read_addr_i,
    output logic [Lanes*16-1:0]       read_data_o,
    input  logic                      write_i,
    input  logic [AddrBits-1:0]       write_addr_i,
    input  logic [15:0]               write_data_i
);
  logic [15:0] mem[1<<AddrBits];

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= write_data_i;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    always_ff @(posedge clk_i) begin
      if (read_i) read_data_o[i*16+:16] <= mem[read_addr_i[i*AddrBits+:AddrBits]];
    end
  end
endmodule
