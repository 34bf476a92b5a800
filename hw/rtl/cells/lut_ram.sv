// A small memory in the LUTs of a part: one port that writes, Ports that read without a
// register. What is written in cycle t is read from t+1 on.
module lut_ram #(
    parameter int unsigned Width     = 8,
    parameter int unsigned Rows      = 32,
    parameter int unsigned Ports     = 1,
    localparam int unsigned AddrBits = $clog2(Rows)
) (
    input  logic                      clk_i,
    input  logic [Ports*AddrBits-1:0] read_addr_i,
    output logic [Ports*Width-1:0]    read_data_o,
    input  logic                      write_i,
    input  logic [AddrBits-1:0]       write_addr_i,
    input  logic [Width-1:0]          write_data_i
);
  logic [Width-1:0] mem[Rows];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign read_data_o[p*Width+:Width] = mem[read_addr_i[p*AddrBits+:AddrBits]];
  end

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= write_data_i;
  end

`ifdef FORMAL
  logic [Rows*Width-1:0] contents;  // for properties of the modules around it
  for (genvar i = 0; i < Rows; i++) begin : gen_row
    assign contents[i*Width+:Width] = mem[i];
  end
`endif
endmodule
