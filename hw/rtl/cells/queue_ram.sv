// A memory of few wide rows, which wait in it: one port that writes and one that reads. The row
// of a read in cycle t is at the output from t+1 on. A part may keep it in LUTs or in block RAM,
// whichever is left. A reader must not use what it reads in the cycle that writes the row.
module queue_ram #(
    parameter int unsigned Width     = 256,
    parameter int unsigned Rows      = 32,
    localparam int unsigned AddrBits = $clog2(Rows)
) (
    input  logic                clk_i,
    input  logic                write_i,
    input  logic [AddrBits-1:0] write_addr_i,
    input  logic [Width-1:0]    write_data_i,
    input  logic                read_i,
    input  logic [AddrBits-1:0] read_addr_i,
    output logic [Width-1:0]    read_data_o
);
  (* no_rw_check *)
  logic [Width-1:0] mem[Rows];

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= write_data_i;
    if (read_i) read_data_o <= mem[read_addr_i];
  end
endmodule
