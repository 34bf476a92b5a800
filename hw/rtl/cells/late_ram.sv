// A memory in the block RAMs of a part, with their output registers: one port that writes, Ports
// that read together. The register of a port takes the row of a read in cycle t where keep_i is
// high in t+1, so it is at the output from t+2 on. A reader must not use what it reads in the
// cycle that writes the row.
module late_ram #(
    parameter int unsigned Width     = 16,
    parameter int unsigned Rows      = 512,
    parameter int unsigned Ports     = 1,
    localparam int unsigned AddrBits = $clog2(Rows)
) (
    input  logic                      clk_i,
    input  logic                      write_i,
    input  logic [AddrBits-1:0]       write_addr_i,
    input  logic [Width-1:0]          write_data_i,
    input  logic                      read_i,
    input  logic [Ports*AddrBits-1:0] read_addr_i,
    input  logic                      keep_i,
    output logic [Ports*Width-1:0]    read_data_o
);
  logic [Ports*Width-1:0] row;
  logic [Width-1:0]       unused_watch;

  block_ram #(
      .Width(Width),
      .Rows (Rows),
      .Ports(Ports)
  ) u_rows (
      .clk_i,
      .write_i,
      .write_addr_i,
      .write_data_i,
      .read_i      ({Ports{read_i}}),
      .clear_i     ('0),
      .read_addr_i,
      .read_data_o (row),
      .watch_clk_i (1'b0),
      .watch_addr_i('0),
      .watch_data_o(unused_watch)
  );

  always_ff @(posedge clk_i) begin
    if (keep_i) read_data_o <= row;
  end
endmodule
