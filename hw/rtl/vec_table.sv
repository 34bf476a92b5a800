// Function tables over a row: fp32 in, rounded to bf16, the table's value out as
// fp32. A beat every cycle, each with its own table.
// table_i comes in cycle t-1, the other inputs in t; value_o and valid_o leave in
// t + vec_table (Stages), registered.
// Stage 1 rounds and makes the address of the entry, stage 2 registers the entry and
// works out what lies outside the range, stage 3 selects; outside the range of a log
// table it adds the exponent's part to the entry and rounds. With four stages a
// register lies between the address and the memory, whose blocks are far apart.
// Configuration: entries at {table, index}, header words at {table, word}.
`include "assert.svh"

module vec_table #(
    parameter int unsigned Lanes     = 8,
    parameter int unsigned Tables    = 4,
    parameter int unsigned Stages    = isa_pkg::VecTableDefault,
    localparam int unsigned IdBits   = $clog2(Tables),
    localparam int unsigned AddrBits = IdBits + $clog2(isa_pkg::TableEntries)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                valid_i,
    input  logic [3:0]          table_i,     // of the next cycle's beat, less than Tables
    input  logic [Lanes*32-1:0] value_i,
    output logic                valid_o,
    output logic [Lanes*32-1:0] value_o,
    input  logic                cfg_entry_i,
    input  logic                cfg_header_i,
    input  logic [15:0]         cfg_addr_i,
    input  logic [63:0]         cfg_data_i
);
  `SLUICE_REQUIRE(Tables >= 2 && Tables <= 16)
  `SLUICE_REQUIRE(Stages >= isa_pkg::VecTableLeast && Stages <= isa_pkg::VecTableMost)

  typedef struct packed {
    logic [31:0]     unused3;
    logic [15:0]     inf_neg;
    logic [15:0]     inf_pos;
    logic [15:0]     nan;
    logic [15:0]     zero_neg;
    logic [15:0]     zero_pos;
    logic [7:0]      unused2;
    logic [3:0][1:0] kind;     // below_pos, below_neg, above_pos, above_neg
    logic [3:0][15:0] rule;
    logic [44:0]     unused1;
    logic [2:0]      k;
    logic [7:0]      base;
    logic [5:0]      unused0;
    logic [1:0]      mode;
  } header_t;

  // What stage 2 needs of a lane: sign, NaN, below and above the range, exponent, mantissa.
  localparam int unsigned LaneBits = 19;

  header_t               header1_q, header_q;  // in stages 1 and 2
  header_t               found_header;         // of the beat whose entries are read
  logic [255:0]          words1_q;             // of header1_q
  logic                  read, stage2_q, stage3_q, scaled, log, log_q;
  logic [3:0]            table1_q;
  logic [Lanes*AddrBits-1:0] addr, read_addr;
  logic [Lanes*LaneBits-1:0] lanes, read_lanes;
  logic [Lanes*16-1:0]   found;  // in stage 3

  assign scaled = header1_q.mode == 2'd1;
  assign log    = header1_q.mode == 2'(isa_pkg::TableLog);
  assign log_q  = header_q.mode == 2'(isa_pkg::TableLog);

  assign header1_q = words1_q;

  // One memory for each word of the headers.
  for (genvar w = 0; w < 4; w++) begin : gen_word
    logic [63:0] word;
    lut_ram #(
        .Width(64),
        .Rows (Tables)
    ) u_words (
        .clk_i,
        .read_addr_i (table_i[IdBits-1:0]),
        .read_data_o (word),
        .write_i     (cfg_header_i && cfg_addr_i[1:0] == 2'(w)),
        .write_addr_i(cfg_addr_i[2+:IdBits]),
        .write_data_i(cfg_data_i)
    );
    always_ff @(posedge clk_i) begin
      words1_q[w*64+:64] <= word;
    end
  end

  always_ff @(posedge clk_i) begin
    table1_q <= table_i;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      stage2_q <= 1'b0;
      stage3_q <= 1'b0;
      valid_o  <= 1'b0;
    end else begin
      stage2_q <= read;
      stage3_q <= stage2_q;
      valid_o  <= stage3_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (read) header_q <= found_header;
  end

  if (Stages > isa_pkg::VecTableLeast) begin : gen_address
    logic                      read_q;
    header_t                   found_header_q;
    logic [Lanes*AddrBits-1:0] read_addr_q;
    logic [Lanes*LaneBits-1:0] read_lanes_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) read_q <= 1'b0;
      else read_q <= valid_i;
    end
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        found_header_q <= header1_q;
        read_addr_q    <= addr;
        read_lanes_q   <= lanes;
      end
    end
    assign read         = read_q;
    assign found_header = found_header_q;
    assign read_addr    = read_addr_q;
    assign read_lanes   = read_lanes_q;
  end else begin : gen_no_address
    assign read         = valid_i;
    assign found_header = header1_q;
    assign read_addr    = addr;
    assign read_lanes   = lanes;
  end

  // One read port per lane: a copy for each lane, or for two.
  late_ram #(
      .Width(16),
      .Rows (Tables * isa_pkg::TableEntries),
      .Ports(Lanes)
  ) u_entries (
      .clk_i,
      .write_i     (cfg_entry_i),
      .write_addr_i(cfg_addr_i[AddrBits-1:0]),
      .write_data_i(cfg_data_i[15:0]),
      .read_i      (read),
      .read_addr_i (read_addr),
      .keep_i      (stage2_q),
      .read_data_o (found)
  );

  // Of n * ln 2, n from 0 to 127: the octave, counted from [4, 8), and the value with
  // 16 fraction bits and half a unit in the last place of the octave's bf16 added.
  // Bit by bit, so that each is a function of 7 inputs: bit b of n is at 128 b + n.
  localparam int unsigned LogBits = 26;
  function automatic logic [LogBits*128-1:0] log_parts();
    logic [2:0]         octave;
    logic [LogBits-1:0] part;
    for (int n = 0; n < 128; n++) begin
      octave = n < 12 ? 3'd0 : n < 24 ? 3'd1 : n < 47 ? 3'd2 : n < 93 ? 3'd3 : 3'd4;
      part[22:0]  = 23'((64'(n) * 64'd48775896626292 + (64'd1 << 29)) >> 30) + (23'd1024 << octave);
      part[25:23] = octave;
      for (int b = 0; b < LogBits; b++) log_parts[b*128+n] = part[b];
    end
  endfunction
  localparam logic [LogBits*128-1:0] LogParts = log_parts();

  logic unused;
  assign unused = ^{header_q.unused3, header_q.unused2, header_q.unused1, header_q.unused0,
                    header_q.base, table1_q, cfg_addr_i};

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    // ---- stage 1 ----------------------------------------------------------------
    logic [31:0] x;
    logic        up, carry;
    logic [6:0]  mantissa;
    logic [8:0]  offset0, offset1, offset;  // exponent - base without and with the carry
    logic [4:0]  place0, place1;            // {upper half, index} of the entry, the same
    logic        sign_q, below_q, above_q, nan_q;
    logic [7:0]  exponent_q;
    logic [6:0]  mantissa_q;

    assign x        = value_i[i*32+:32];
    assign up       = x[15] && (x[16] || x[14:0] != '0);
    assign mantissa = x[22:16] + 7'(up);
    assign carry    = up && x[22:16] == '1;
    assign offset0  = {1'b0, x[30:23]} - {1'b0, header1_q.base};
    assign offset1  = {1'b0, x[30:23]} - {1'b0, header1_q.base} + 9'd1;
    assign offset   = carry ? offset1 : offset0;

    // The upper half has the negative entries, and of a log table the first entries beyond
    // the range. Where scaled, d = exponent - 127: its lowest bit is the exponent's, inverted.
    function automatic logic [4:0] place_of(input logic [8:0] off, input logic odd);
      if (scaled) place_of = {x[31], 3'b0, !odd};
      else if (log && !x[31] && off[8:4] != '0) place_of = {4'b1000, off[8]};
      else place_of = {x[31], off[3:0]};
    endfunction
    assign place0 = place_of(offset0, x[23]);
    assign place1 = place_of(offset1, !x[23]);
    assign addr[i*AddrBits+:AddrBits] = {table1_q[IdBits-1:0], carry ? place1 : place0, mantissa};

    assign lanes[i*LaneBits+:LaneBits] = {
      x[31],
      x[30:23] == '1 && x[22:0] != '0,
      !scaled && (offset[8] || (log && x[31])),
      !scaled && !offset[8] && offset[7:4] != '0 && !(log && x[31]),
      carry && x[30:23] != '1 && x[30:23] != '0 ? x[30:23] + 8'd1 : x[30:23],
      mantissa
    };

    always_ff @(posedge clk_i) begin
      if (read)
        {sign_q, nan_q, below_q, above_q, exponent_q, mantissa_q} <=
            read_lanes[i*LaneBits+:LaneBits];
    end

    // ---- stage 2 ----------------------------------------------------------------
    logic               adds, adds2_q, below2_q;  // log, outside the range: entry and log_part
    logic [6:0]         n;              // whole octaves from 1, to the side of 1
    logic [LogBits-1:0] part, part2_q;

    assign adds = log_q && !sign_q && (below_q || above_q);
    assign n = (exponent_q[6:0] + 7'd1) ^ {7{below_q}};
    for (genvar b = 0; b < LogBits; b++) begin : gen_part
      localparam logic [127:0] Bits = LogParts[b*128+:128];
      assign part[b] = Bits[n];
    end

    logic [1:0]  which;
    logic [15:0] rule;
    logic        is_zero, is_inf;
    logic [8:0]  octaves;
    logic [9:0]  exponent2_q;  // of x * 2^value
    logic [8:0]  unused_product;
    logic [8:0]  shift2_q;     // k * (d >> 1), added to the entry's exponent
    logic        sign2_q, entry2_q, scales2_q;
    logic [6:0]  mantissa2_q;
    logic [15:0] fixed2_q, found2_q;

    assign found2_q = found[i*16+:16];

    assign which   = {above_q, sign_q};
    assign rule    = header_q.rule[which];
    assign is_zero = exponent_q == '0;
    assign is_inf  = exponent_q == '1;
    // (exponent - 127) >> 1 = ((exponent + 1) >> 1) - 64
    assign octaves = {1'b0, {1'b0, exponent_q[7:1]} + {7'b0, exponent_q[0]}} - 9'd64;

    // Of the product of two numbers with signs, the lower half is that without signs.
    multiplier #(
        .Width(9)
    ) u_shift (
        .clk_i,
        .enable_i (stage2_q),
        .left_i   (octaves),
        .right_i  (header_q.mode == 2'd1 ? {{6{header_q.k[2]}}, header_q.k} : '0),
        .product_o({unused_product, shift2_q})
    );

    always_ff @(posedge clk_i) begin
      if (stage2_q) begin
        sign2_q     <= sign_q;
        mantissa2_q <= mantissa_q;
        entry2_q    <= !nan_q && !is_zero && !is_inf && !below_q && !above_q;
        scales2_q   <= !nan_q && !is_zero && !is_inf && header_q.kind[which] == 2'd1;
        exponent2_q <= {2'b0, exponent_q} + {{2{rule[7]}}, rule[7:0]};
        adds2_q     <= adds && !is_zero && !is_inf;
        below2_q    <= below_q;
        if (adds) part2_q <= part;
        fixed2_q    <= nan_q ? header_q.nan
                     : is_inf ? (sign_q ? header_q.inf_neg : header_q.inf_pos)
                     : is_zero ? (sign_q ? header_q.zero_neg : header_q.zero_pos)
                     : rule;
      end
    end

    // ---- stage 3 ----------------------------------------------------------------
    logic [9:0]  exponent;
    logic        scales, sign, over, under;
    logic [6:0]  fraction;

    assign scales   = entry2_q ? found2_q[14:7] != '0 && found2_q[14:7] != '1 : scales2_q;
    assign sign     = entry2_q ? found2_q[15] : sign2_q;
    assign fraction = entry2_q ? found2_q[6:0] : mantissa2_q;
    assign exponent = entry2_q ? {2'b0, found2_q[14:7]} + {shift2_q[8], shift2_q} : exponent2_q;
    assign under    = exponent[9] || exponent[8:0] == '0;
    assign over     = exponent[8] || exponent[7:0] == '1;

    // Octave by octave; a sum that has reached the next one is halved and rounded once more.
    logic [22:0] sum;
    logic [9:0]  place;  // half a unit, the unit, ...
    logic [2:0]  octave;  // the exponent of [4, 8) is 129
    logic [6:0]  log_fraction;

    assign sum = part2_q[22:0] + {7'b0, found2_q};
    always_comb begin
      unique case (part2_q[25:23])
        3'd0:    place = sum[19:10];
        3'd1:    place = sum[20:11];
        3'd2:    place = sum[21:12];
        3'd3:    place = sum[22:13];
        default: place = {1'b0, sum[22:14]};
      endcase
    end
    assign octave       = part2_q[25:23] + 3'd1 + 3'(place[9]);
    assign log_fraction = place[9] ? place[8:2] + 7'(place[1] && place[0]) : place[7:1];

    always_ff @(posedge clk_i) begin
      if (stage3_q) begin
        value_o[i*32+:16] <= '0;
        if (adds2_q) value_o[i*32+16+:16] <= {below2_q, 5'b10000, octave, log_fraction};
        else if (!scales) value_o[i*32+16+:16] <= entry2_q ? found2_q : fixed2_q;
        else if (under) value_o[i*32+16+:16] <= {sign, 15'b0};
        else if (over) value_o[i*32+16+:16] <= {sign, 8'hFF, 7'b0};
        else value_o[i*32+16+:16] <= {sign, exponent[7:0], fraction};
      end
    end
  end

  `SLUICE_ASSERT(!valid_i || {1'b0, table1_q} < 5'(Tables))
  `SLUICE_ASSERT(!(cfg_entry_i && read))
  `SLUICE_ASSERT(!cfg_entry_i || {1'b0, cfg_addr_i} < 17'(Tables * isa_pkg::TableEntries))
  `SLUICE_ASSERT(!cfg_header_i || cfg_addr_i < 16'(Tables * 4))
endmodule
