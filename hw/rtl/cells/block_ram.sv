// A memory in the block RAMs of a part: one port that writes, Ports that read. The row of a
// read in cycle t is at the output from t+1 on, or zero if the read clears, until the port reads
// again. The write port divides a row into Parts, each with its own enable.
//
// A read that meets a write of its row returns the row as it was if MeetsOld is set. Else the
// reader must not use what it returns: a part may return anything, and yosys then adds
// nothing to the RAM. In simulation it is the row as it was, too.
//
// With Watched, a row can be read with another clock while clk_i rests; a part has no cell for it.
module block_ram #(
    parameter int unsigned Width     = 16,
    parameter int unsigned Rows      = 512,
    parameter int unsigned Parts     = 1,
    parameter int unsigned Ports     = 1,
    parameter bit MeetsOld           = 1'b0,
    parameter bit Watched            = 1'b0,
    localparam int unsigned AddrBits = $clog2(Rows),
    localparam int unsigned PartBits = Width / Parts
) (
    input  logic                      clk_i,
    input  logic [Parts-1:0]          write_i,
    input  logic [AddrBits-1:0]       write_addr_i,
    input  logic [Width-1:0]          write_data_i,
    input  logic [Ports-1:0]          read_i,
    input  logic [Ports-1:0]          clear_i,      // with read_i
    input  logic [Ports*AddrBits-1:0] read_addr_i,
    output logic [Ports*Width-1:0]    read_data_o,
    input  logic                      watch_clk_i,
    input  logic [AddrBits-1:0]       watch_addr_i,
    output logic [Width-1:0]          watch_data_o
);
  (* no_rw_check = !MeetsOld *)
  logic [Width-1:0] mem[Rows];

  if (Parts == 1) begin : gen_whole
    always_ff @(posedge clk_i) begin
      if (write_i[0]) mem[write_addr_i] <= write_data_i;
    end
  end else begin : gen_parts
    always_ff @(posedge clk_i) begin
      for (int i = 0; i < Parts; i++) begin
        if (write_i[i]) mem[write_addr_i][i*PartBits+:PartBits] <= write_data_i[i*PartBits+:PartBits];
      end
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic [Width-1:0] row_q;

    always_ff @(posedge clk_i) begin
      if (read_i[p]) begin
        if (clear_i[p]) row_q <= '0;
        else row_q <= mem[read_addr_i[p*AddrBits+:AddrBits]];
      end
    end

    assign read_data_o[p*Width+:Width] = row_q;
  end

  if (Watched) begin : gen_watched
    logic [Width-1:0] watch_q;
    always_ff @(posedge watch_clk_i) begin
      watch_q <= mem[watch_addr_i];
    end
    assign watch_data_o = watch_q;
  end else begin : gen_not_watched
    logic unused;
    assign unused       = ^{watch_clk_i, watch_addr_i};
    assign watch_data_o = '0;
  end
endmodule
