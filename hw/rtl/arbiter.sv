// Round robin: grants the first requester after the one granted last. After reset
// requester 0 comes first.
`include "assert.svh"

module arbiter #(
    parameter int unsigned Requesters = 3
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [Requesters-1:0] request_i,
    output logic [Requesters-1:0] grant_o  // at most one, and only of a requester
);
  logic [Requesters-1:0] after_q;  // the requesters after the one granted last
  logic [Requesters-1:0] later, pick, after;

  assign later = request_i & after_q;

  // The lowest of the later requesters, else the lowest of all.
  always_comb begin
    logic seen;
    pick  = later != '0 ? later : request_i;
    seen  = 1'b0;
    after = '0;
    for (int i = 0; i < Requesters; i++) begin
      grant_o[i] = pick[i] && !seen;
      after[i]   = seen;
      seen       = seen || pick[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) after_q <= '0;
    else if (request_i != '0) after_q <= after;
  end

  `SLUICE_ASSERT((grant_o & (grant_o - 1'b1)) == '0)
  `SLUICE_ASSERT((grant_o & ~request_i) == '0)
  `SLUICE_ASSERT((grant_o != '0) == (request_i != '0))
endmodule
