// Accumulator rows and the preload rows they start from or are written to.
// For a beat that accumulates in cycle A (docs/machine.md): read_i and read_p_i, which
// are its preload_i and p_i, come in A-3, the control in A-2, poison_i and anchor_i in
// A-1, sum_i in A; lane_o is the new content in A+1.
//
// Anchors run one cycle ahead of integers, so the loop holds only a move by whole
// bytes and an addition. A beat right behind one on the same accumulator takes the
// integer from the loop register; everything older has reached the memory. The
// preload row is read in A-3, two cycles before the contract's A-1, and registered
// behind the RAM; the two writes that could come between are forwarded.
`include "assert.svh"

module accumulator #(
    parameter int unsigned Lanes        = 8,
    parameter int unsigned Accumulators = 32,
    parameter int unsigned PreloadRows  = 256,
    localparam int unsigned LaneBits    = isa_pkg::AnchorBits + isa_pkg::AccBits + 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    input  logic                              read_i,
    input  logic [11:0]                       read_p_i,
    input  logic                              valid_i,
    input  logic                              zero_i,     // start from zero
    input  logic                              preload_i,  // start from preload row p
    input  logic                              raw_i,      // write the new content to row p
    input  logic [7:0]                        acc_i,
    input  logic [11:0]                       p_i,
    input  logic                              poison_i,
    input  logic [Lanes*6-1:0]                anchor_i,
    input  logic [Lanes*isa_pkg::AccBits-1:0] sum_i,
    output logic [Lanes*LaneBits-1:0]         lane_o,     // {poison, anchor, integer}
    // configuration of the preload rows, address: row * 4 + quarter
    input  logic                              cfg_preload_i,
    input  logic [15:0]                       cfg_addr_i,
    input  logic [Lanes*16-1:0]               cfg_data_i
);
  localparam int unsigned AddrBits = $clog2(Accumulators);

  `SLUICE_REQUIRE(Accumulators >= 2 && Accumulators <= 256 && PreloadRows >= 2 && PreloadRows <= 4096)

  // ---- A-3: preload read; A-2: control, preload row -----------------------------------
  // Names end in the cycle in which a register is used: m2 is A-2, 0 is A, 1 is A+1.
  logic [AddrBits-1:0]     acc;
  logic                    valid_m1_q, valid_0_q, zero_m1_q, preload_m1_q, same_m1_q, same_0_q;
  logic                    raw_m1_q, raw_0_q, raw_1_q, met_m2_q, meets;
  logic [11:0]             p_m1_q, p_0_q, p_1_q;
  logic [AddrBits-1:0]     acc_m1_q, acc_0_q;
  logic [Accumulators-1:0] known_q;  // written since reset; the others count as zero
  logic [Lanes*LaneBits-1:0] row_m2, row_m1_q, met_row_q;

  assign acc   = acc_i[AddrBits-1:0];
  assign meets = raw_1_q && p_1_q == p_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_m1_q <= 1'b0;
      valid_0_q  <= 1'b0;
      raw_m1_q   <= 1'b0;
      raw_0_q    <= 1'b0;
      raw_1_q    <= 1'b0;
      known_q    <= '0;
    end else begin
      valid_m1_q <= valid_i;
      valid_0_q  <= valid_m1_q;
      raw_m1_q   <= valid_i && raw_i;
      raw_0_q    <= raw_m1_q;
      raw_1_q    <= raw_0_q;
      if (valid_i) known_q[acc] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      zero_m1_q    <= !preload_i && (zero_i || !known_q[acc]);
      preload_m1_q <= preload_i;
      same_m1_q    <= !preload_i && !zero_i && valid_m1_q && acc == acc_m1_q;
      acc_m1_q     <= acc;
      p_m1_q       <= p_i;
      if (preload_i) row_m1_q <= meets ? lane_o : met_m2_q ? met_row_q : row_m2;
    end
    if (read_i) begin
      met_m2_q <= raw_1_q && p_1_q == read_p_i;
      if (raw_1_q) met_row_q <= lane_o;
    end
    if (valid_m1_q) begin
      same_0_q <= same_m1_q;
      acc_0_q  <= acc_m1_q;
      p_0_q    <= p_m1_q;
    end
    if (valid_0_q) p_1_q <= p_0_q;
  end

  preload_ram #(
      .Lanes(Lanes),
      .Rows (PreloadRows)
  ) u_preload (
      .clk_i,
      .rst_i,
      .cfg_write_i (cfg_preload_i),
      .cfg_addr_i,
      .cfg_data_i,
      .write_i     (raw_1_q),
      .write_row_i (p_1_q),
      .write_data_i(lane_o),
      .read_i,
      .read_row_i  (read_p_i),
      .read_data_o (row_m2)
  );

  // ---- memories ---------------------------------------------------------------------
  logic [Lanes*7-1:0]                head, new_head;  // {poison, anchor}
  logic [Lanes*isa_pkg::AccBits-1:0] integers, new_integers;

  lut_ram #(
      .Width(Lanes * 7),
      .Rows (Accumulators)
  ) u_heads (
      .clk_i,
      .read_addr_i (acc_m1_q),
      .read_data_o (head),
      .write_i     (valid_m1_q),
      .write_addr_i(acc_m1_q),
      .write_data_i(new_head)
  );

  lut_ram #(
      .Width(Lanes * isa_pkg::AccBits),
      .Rows (Accumulators)
  ) u_integers (
      .clk_i,
      .read_addr_i (acc_m1_q),
      .read_data_o (integers),
      .write_i     (valid_0_q),
      .write_addr_i(acc_0_q),
      .write_data_i(new_integers)
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    // ---- A-1: anchors, old integer ----------------------------------------------------
    logic [LaneBits-1:0]         start, stored;
    logic [5:0]                  anchor;
    logic [2:0]                  move_old, move_sum, move_old_q, move_sum_q;
    logic [6:0]                  head_0_q, head_1_q;
    logic [isa_pkg::AccBits-1:0] old_q;

    assign stored = {head[i*7+:7], integers[i*isa_pkg::AccBits+:isa_pkg::AccBits]};
    always_comb begin
      if (zero_m1_q) start = '0;
      else if (!preload_m1_q) start = stored;
      else start = row_m1_q[i*LaneBits+:LaneBits];
    end

    anchor_add u_anchor (
        .left_i      (start[isa_pkg::AccBits+:6]),
        .right_i     (anchor_i[i*6+:6]),
        .anchor_o    (anchor),
        .move_left_o (move_old),
        .move_right_o(move_sum)
    );
    assign new_head[i*7+:7] = {start[LaneBits-1] || poison_i, anchor};

    always_ff @(posedge clk_i) begin
      if (valid_m1_q) begin
        old_q      <= start[isa_pkg::AccBits-1:0];
        head_0_q   <= new_head[i*7+:7];
        move_old_q <= move_old;
        move_sum_q <= move_sum;
      end
    end

    // ---- A: the loop --------------------------------------------------------------------
    logic signed [isa_pkg::AccBits-1:0] old, sum, old_moved, sum_moved;
    logic [isa_pkg::AccBits-1:0]        loop_q;

    assign old       = same_0_q ? loop_q : old_q;
    assign sum       = sum_i[i*isa_pkg::AccBits+:isa_pkg::AccBits];
    assign old_moved = old >>> {move_old_q, 3'b0};
    assign sum_moved = sum >>> {move_sum_q, 3'b0};
    assign new_integers[i*isa_pkg::AccBits+:isa_pkg::AccBits] = old_moved + sum_moved;

    always_ff @(posedge clk_i) begin
      if (valid_0_q) begin
        loop_q   <= new_integers[i*isa_pkg::AccBits+:isa_pkg::AccBits];
        head_1_q <= head_0_q;
      end
    end
    assign lane_o[i*LaneBits+:LaneBits] = {head_1_q, loop_q};

    // The sum of two numbers of one sign has that sign, or it does not fit.
    `SLUICE_ASSERT(!valid_0_q || old_moved[isa_pkg::AccBits-1] != sum_moved[isa_pkg::AccBits-1] ||
                   new_integers[i*isa_pkg::AccBits+isa_pkg::AccBits-1] == old_moved[isa_pkg::AccBits-1])
  end

  `SLUICE_ASSERT(!valid_i || {1'b0, acc_i} < 9'(Accumulators))
  `SLUICE_ASSERT(!(cfg_preload_i && raw_1_q))
endmodule
