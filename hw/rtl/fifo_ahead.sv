// First-in first-out queue like fifo. A register holds the bits of the head that are
// needed before the memory can be read: ahead_o is the ahead_i of the item at head_o.
module fifo_ahead #(
    parameter int unsigned Width = 8,
    parameter int unsigned Ahead = 2,
    parameter int unsigned Depth = 4  // a power of two
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             push_i,
    input  logic [Width-1:0] data_i,
    input  logic [Ahead-1:0] ahead_i,
    input  logic             pop_i,
    output logic             valid_o,
    output logic [Width-1:0] head_o,
    output logic [Ahead-1:0] ahead_o,
    output logic             full_o
);
  logic [$clog2(Depth)-1:0] wr, rd, second;
  logic [Ahead-1:0]         next_ahead;

  fifo_pointers #(
      .Depth(Depth)
  ) u_pointers (
      .clk_i, .rst_i, .push_i, .pop_i, .valid_o, .full_o, .wr_o(wr), .rd_o(rd)
  );

  lut_ram #(
      .Width(Width),
      .Rows (Depth)
  ) u_items (
      .clk_i,
      .read_addr_i (rd),
      .read_data_o (head_o),
      .write_i     (push_i),
      .write_addr_i(wr),
      .write_data_i(data_i)
  );
  lut_ram #(
      .Width(Ahead),
      .Rows (Depth)
  ) u_aheads (
      .clk_i,
      .read_addr_i (second),
      .read_data_o (next_ahead),
      .write_i     (push_i),
      .write_addr_i(wr),
      .write_data_i(ahead_i)
  );

  // The next head is the second item, or the one that comes if there is none.
  assign second = rd + 1'b1;
  always_ff @(posedge clk_i) begin
    if (!valid_o || (pop_i && second == wr)) ahead_o <= ahead_i;
    else if (pop_i) ahead_o <= next_ahead;
  end

  stream_check #(
      .Width(Width)
  ) u_check (
      .clk_i, .rst_i, .valid_i(valid_o), .ready_i(pop_i), .data_i(head_o)
  );
endmodule
