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
  logic [Width-1:0]         mem[Depth];
  logic [Ahead-1:0]         aheads[Depth];
  logic [$clog2(Depth)-1:0] wr, rd, second;

  fifo_pointers #(
      .Depth(Depth)
  ) u_pointers (
      .clk_i, .rst_i, .push_i, .pop_i, .valid_o, .full_o, .wr_o(wr), .rd_o(rd)
  );

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      mem[wr]    <= data_i;
      aheads[wr] <= ahead_i;
    end
  end
  assign head_o = mem[rd];

  // The next head is the second item, or the one that comes if there is none.
  assign second = rd + 1'b1;
  always_ff @(posedge clk_i) begin
    if (!valid_o || (pop_i && second == wr)) ahead_o <= ahead_i;
    else if (pop_i) ahead_o <= aheads[second];
  end

  stream_check #(
      .Width(Width)
  ) u_check (
      .clk_i, .rst_i, .valid_i(valid_o), .ready_i(pop_i), .data_i(head_o)
  );
endmodule
