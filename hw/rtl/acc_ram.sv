// A small memory read without a register: what is written in cycle t is read from
// t+1 on.
module acc_ram #(
    parameter int unsigned Width     = 8,
    parameter int unsigned Rows      = 32,
    localparam int unsigned AddrBits = $clog2(Rows)
) (
    input  logic                clk_i,
    input  logic [AddrBits-1:0] read_addr_i,
    output logic [Width-1:0]    read_data_o,
    input  logic                write_i,
    input  logic [AddrBits-1:0] write_addr_i,
    input  logic [Width-1:0]    write_data_i
);
  logic [Width-1:0] mem[Rows];

  assign read_data_o = mem[read_addr_i];

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= write_data_i;
  end
endmodule
