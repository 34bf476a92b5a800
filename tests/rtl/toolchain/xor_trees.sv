// Parity trees with inversions over a wide vector that Verilator 5.006 evaluates
// with the wrong polarity unless it is called with -fno-const-bit-op-tree.
module xor_trees (
    input  logic [127:0] x_i,
    output logic [2:0]   y_o
);
  assign y_o[0] = (x_i[6] ^ ((~x_i[79] ~^ ~x_i[92]) ~^ (~x_i[61] ^ x_i[53]))) ^ x_i[15];
  assign y_o[1] = (((~(x_i[35] ^ x_i[90]) ~^ x_i[126]) ^ ~x_i[105]) ^
                   (~((~x_i[10] ^ ~x_i[117]) ^ ~(~x_i[69] ^ ~x_i[78])) ^
                    (~(x_i[55] ^ x_i[80]) ~^ x_i[90])));
  assign y_o[2] = ((~((~x_i[121] ~^ ~x_i[19]) ^ (x_i[99] ^ x_i[121])) ~^ x_i[30]) ~^
                   ((~(~x_i[66] ~^ x_i[124]) ^ x_i[74]) ~^ (~(~x_i[12] ^ ~x_i[38]) ~^ ~x_i[109])));
endmodule
