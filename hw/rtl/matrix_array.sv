// The systolic array: Lanes columns, the registers that carry x and the weight
// address to them, and the skew of the elements in a column.
// For a beat issued in cycle t (docs/machine.md): row_i, block_i, zero_i and valid_i
// in t+1, where row_i is the tensor RAM's output and is registered here; poison_o and
// anchor_o in A-1, sum_o in A = t + mm_read + mm_fanout + mm_pe + Lanes/PeTerms - 1.
// Weights are written at the end of the cycle: weight_row_i as the weights of one
// output lane, weight_column_i as one input position of every output lane.
`include "assert.svh"

module matrix_array #(
    parameter int unsigned Lanes        = 8,
    parameter int unsigned PeTerms      = 4,
    parameter int unsigned WeightBlocks = 64,
    parameter int unsigned MmFanout     = isa_pkg::MmFanoutDefault,
    localparam int unsigned BlockBits   = $clog2(WeightBlocks),
    localparam int unsigned LaneBits    = $clog2(Lanes)
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    input  logic                              valid_i,
    input  logic                              zero_i,   // zeros instead of the row: products that add nothing
    input  logic [BlockBits-1:0]              block_i,
    input  logic [Lanes*16-1:0]               row_i,
    input  logic                              weight_row_i,
    input  logic                              weight_column_i,
    input  logic [BlockBits+LaneBits-1:0]     weight_addr_i,  // {block, lane or position}
    input  logic [Lanes*16-1:0]               weight_data_i,
    output logic                              poison_o,
    output logic [Lanes*6-1:0]                anchor_o,
    output logic [Lanes*isa_pkg::AccBits-1:0] sum_o
);
  `SLUICE_REQUIRE(Lanes / PeTerms * PeTerms == Lanes)
  `SLUICE_REQUIRE(MmFanout >= isa_pkg::MmFanoutLeast && MmFanout <= isa_pkg::MmFanoutMost)

  localparam int unsigned Elements  = Lanes / PeTerms;
  localparam int unsigned SliceBits = PeTerms * 16;
  // valid_q[k]: a beat issued k cycles ago; t + Stage1 is stage 1 of the first element.
  localparam int unsigned Stage1    = isa_pkg::MmRead + MmFanout;
  // More registers on the way to the columns than the two that every array has.
  localparam int unsigned More      = MmFanout - 2;
  localparam int unsigned Last      = Stage1 + isa_pkg::MmPe + Elements - 1;

  logic [Last:2]        valid_q;
  logic [Lanes*16-1:0]  row2_q, row3_q;  // row3_q is in t + 3 + More
  logic [Lanes-1:0]     full_exponent;
  logic [Last-1:3]      poison_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_q <= '0;
    else valid_q <= {valid_q[Last-1:2], valid_i};
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_poison
    assign full_exponent[i] = row2_q[i*16+7+:8] == '1;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      row2_q <= zero_i ? '0 : row_i;
    end
    if (valid_q[2+More]) row3_q <= gen_more[More].row;
    poison_q <= {poison_q[Last-2:3], full_exponent != '0};
  end
  assign poison_o = poison_q[Last-1];

  // ---- further registers of the fan-out ----------------------------------------------
  logic [Last:1] issued;  // [k]: a beat issued k cycles ago
  assign issued = {valid_q, valid_i};

  for (genvar k = 0; k <= More; k++) begin : gen_more
    logic [Lanes*16-1:0]  row;      // in t + 2 + k
    logic [BlockBits-1:0] address;  // in t + 1 + k
    if (k == 0) begin : gen_none
      assign row     = row2_q;
      assign address = block_i;
    end else begin : gen_one
      always_ff @(posedge clk_i) begin
        if (issued[1+k]) row <= gen_more[k-1].row;
        if (issued[k]) address <= gen_more[k-1].address;
      end
    end
  end

  // ---- one slice of x per element, skewed --------------------------------------------
  logic [Elements-1:0]           read, keep;
  logic [Elements*BlockBits-1:0] block;
  logic [Elements*6-1:0]         stage;
  logic [Lanes*16-1:0]           x;

  for (genvar p = 0; p < Elements; p++) begin : gen_skew
    localparam int unsigned Skew = p < 2 ? 0 : p - 1;

    for (genvar d = 0; d <= Skew; d++) begin : gen_delay
      // The element's slice and address, d cycles later than needed without skew.
      logic [SliceBits-1:0] slice, slice_q;
      logic [BlockBits-1:0] address, address_q;
      logic                 moves;  // the address
      if (d == 0) begin : gen_first
        assign slice   = row3_q[p*SliceBits+:SliceBits];
        assign address = gen_more[More].address;
        assign moves   = issued[1+More];
      end else begin : gen_next
        assign slice   = gen_delay[d-1].slice_q;
        assign address = gen_delay[d-1].address_q;
        assign moves   = issued[1+More+d];
      end
      always_ff @(posedge clk_i) begin
        if (moves) address_q <= address;
        if (issued[3+More+d]) slice_q <= slice;
      end
    end

    assign x[p*SliceBits+:SliceBits]     = gen_delay[Skew].slice_q;
    assign block[p*BlockBits+:BlockBits] = gen_delay[Skew].address_q;
    assign read[p]                       = issued[2+More+Skew];
    assign keep[p]                       = issued[3+More+Skew];
    assign stage[p*6+:5]                 = valid_q[Stage1+Skew+:5];
    if (p == 0) begin : gen_unchained
      assign stage[5] = 1'b0;
    end else begin : gen_chained
      assign stage[p*6+5] = valid_q[Stage1+Skew+5];
    end
  end

  // ---- columns -------------------------------------------------------------------------
  logic [BlockBits-1:0] write_block;
  logic [LaneBits-1:0]  write_index;

  assign {write_block, write_index} = weight_addr_i;

  for (genvar j = 0; j < Lanes; j++) begin : gen_column
    logic [Lanes-1:0]    write;
    logic [Lanes*16-1:0] data;

    assign write = {Lanes{weight_row_i && write_index == LaneBits'(j)}} |
                   ({Lanes{weight_column_i}} & (Lanes'(1) << write_index));
    assign data  = weight_column_i ? {Lanes{weight_data_i[j*16+:16]}} : weight_data_i;

    matrix_column #(
        .Elements(Elements),
        .Terms   (PeTerms),
        .Blocks  (WeightBlocks)
    ) u_column (
        .clk_i,
        .read_i       (read),
        .keep_i       (keep),
        .block_i      (block),
        .stage_i      (stage),
        .x_i          (x),
        .write_i      (write),
        .write_block_i(write_block),
        .write_data_i (data),
        .anchor_o     (anchor_o[j*6+:6]),
        .sum_o        (sum_o[j*isa_pkg::AccBits+:isa_pkg::AccBits])
    );
  end
endmodule
