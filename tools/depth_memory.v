// For tools/depth.py: every bit that leaves or enters an inferred memory becomes an
// instance of one of these empty modules. yosys then turns the sources and sinks into
// ports; a bit that is read without a clock stays, as the LUT level it costs.
(* blackbox *)
module mem_source (output O);
endmodule

(* blackbox *)
module mem_sink (input I);
endmodule

(* blackbox *)
module mem_lut (input [5:0] A, output O);
endmodule

(* techmap_celltype = "$mem_v2" *)
module mem_map (RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA);
  parameter MEMID = "";
  parameter signed SIZE = 4;
  parameter signed OFFSET = 0;
  parameter signed ABITS = 2;
  parameter signed WIDTH = 8;
  parameter signed INIT = 1'bx;
  parameter signed RD_PORTS = 1;
  parameter RD_CLK_ENABLE = 1'b1;
  parameter RD_CLK_POLARITY = 1'b1;
  parameter RD_TRANSPARENCY_MASK = 1'b0;
  parameter RD_COLLISION_X_MASK = 1'b0;
  parameter RD_WIDE_CONTINUATION = 1'b0;
  parameter RD_CE_OVER_SRST = 1'b0;
  parameter RD_ARST_VALUE = 1'b0;
  parameter RD_SRST_VALUE = 1'b0;
  parameter RD_INIT_VALUE = 1'b0;
  parameter signed WR_PORTS = 1;
  parameter WR_CLK_ENABLE = 1'b1;
  parameter WR_CLK_POLARITY = 1'b1;
  parameter WR_PRIORITY_MASK = 1'b0;
  parameter WR_WIDE_CONTINUATION = 1'b0;
  input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
  input [RD_PORTS*ABITS-1:0] RD_ADDR;
  output [RD_PORTS*WIDTH-1:0] RD_DATA;
  input [WR_PORTS-1:0] WR_CLK;
  input [WR_PORTS*WIDTH-1:0] WR_EN;
  input [WR_PORTS*ABITS-1:0] WR_ADDR;
  input [WR_PORTS*WIDTH-1:0] WR_DATA;
  localparam INPUTS = RD_PORTS * (ABITS + 1) + WR_PORTS * (ABITS + 2 * WIDTH);
  wire [INPUTS-1:0] inputs = {RD_ADDR, RD_EN, WR_ADDR, WR_EN, WR_DATA};
  genvar p, i;
  generate
    for (p = 0; p < RD_PORTS; p = p + 1) begin : gen_port
      wire [5:0] address = RD_ADDR[p*ABITS+:ABITS];
      // Registers of the address, not of the data: the bit comes out of a LUT.
      localparam REGISTERED = RD_TRANSPARENCY_MASK[p*WR_PORTS+:WR_PORTS] != 0;
      for (i = 0; i < WIDTH; i = i + 1) begin : gen_bit
        wire bit;
        if (!RD_CLK_ENABLE[p]) begin : gen_read
          mem_lut lut (.A(address), .O(RD_DATA[p*WIDTH+i]));
        end else if (REGISTERED && SIZE <= 64) begin : gen_late
          mem_source source (.O(bit));
          mem_lut lut (.A({6{bit}}), .O(RD_DATA[p*WIDTH+i]));
        end else begin : gen_source
          mem_source source (.O(RD_DATA[p*WIDTH+i]));
        end
      end
    end
    for (i = 0; i < INPUTS; i = i + 1) begin : gen_sink
      mem_sink sink (.I(inputs[i]));
    end
  endgenerate
endmodule
