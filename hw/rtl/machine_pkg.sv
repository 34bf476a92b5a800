// Types and codes that several modules share and the instruction table does not
// define: network packets, configuration memories, what is shown to a watcher.
package machine_pkg;
  // Header of a network packet; the row travels beside it.
  typedef struct packed {
    logic [8:0]  mask;    // destination cores, bit 8 the host port
    logic        data;    // carries a row
    logic [17:0] addr;    // inbox row; output row at the host
    logic        signal;  // gives a token
    logic [4:0]  token;
    logic [1:0]  units;   // whose bank: bit 0 matrix, bit 1 vector
  } packet_t;
  localparam int unsigned PacketBits = 36;

  // A signal to the core's own banks.
  typedef struct packed {
    logic       valid;
    logic [4:0] token;
    logic [1:0] units;
  } signal_t;

  // Tokens given to a unit in a cycle: by the vector unit, the matrix unit and the network.
  typedef struct packed {
    logic [2:0]  valid;
    logic [14:0] token;
  } gives_t;

  // What the vector unit does to the head of the matrix results.
  typedef struct packed {
    logic read;
    logic pop;  // after the read
  } take_t;

  // Where a row of the vector unit goes within its core.
  typedef struct packed {
    logic        local_row;
    logic        weight_row;     // address: block * lanes + output lane
    logic        weight_column;  // address: block * lanes + input position
    logic [17:0] addr;
  } destination_t;

  // The beat a unit is at.
  typedef struct packed {
    logic       may_issue;  // there is one and it waits for no token
    logic [4:0] first;      // bit L: it is first at level L
    logic [4:0] last;
  } place_t;

  // What a unit does at the end of the cycle, for its operand streams.
  typedef struct packed {
    logic       issue;  // the beat leaves
    logic       move;   // load or step
    logic       load;   // with move: start the next instruction's nest, else next beat
    logic [1:0] loop;   // the loop that advances; loops inside it start again
  } step_t;

  // The units that a vector beat passes.
  typedef struct packed {
    logic [1:0] reduce;  // isa_pkg::Reduce codes
    logic       alu2;
    logic       lookup;  // function table
    logic       alu1;
  } path_t;

  // What a vector beat has yet to pass.
  typedef struct packed {
    logic       lookup;
    logic [1:0] reduce;
    logic       last;    // of a group of the reduction
    logic       alu2;
  } way_t;
  localparam int unsigned WayBits = 5;

  // Where a vector beat enters next: one of these, or none without a beat.
  typedef struct packed {
    logic out;
    logic alu2;
    logic reduce;
    logic lookup;
  } stop_t;

  // Returns the stop_t of a way.
  function automatic logic [3:0] stop_of(input logic lookup, input logic reduces, input logic alu2);
    stop_of = lookup ? 4'b0001 : reduces ? 4'b0010 : alu2 ? 4'b0100 : 4'b1000;
  endfunction

  // The bits of an address that a ring of 2^ring addresses moves: all where there is none.
  function automatic logic [17:0] ring_bits(input logic [3:0] ring);
    for (int i = 0; i < 18; i++) ring_bits[i] = ring == '0 || i < {28'b0, ring};
  endfunction

  // Memories of the configuration port.
  localparam logic [2:0] CfgInstruction = 3'd0;
  localparam logic [2:0] CfgWeights = 3'd1;
  localparam logic [2:0] CfgInbox = 3'd2;
  localparam logic [2:0] CfgLocal = 3'd3;
  localparam logic [2:0] CfgPreload = 3'd4;
  localparam logic [2:0] CfgTable = 3'd5;
  localparam logic [2:0] CfgTableHeader = 3'd6;
  localparam logic [2:0] CfgEntry = 3'd7;
  localparam int unsigned CfgAddrBits = 20;

  // Why a unit does not issue; device::UnitStatus::Block has the same codes. They are
  // also the states of the units' counters, none being busy.
  localparam logic [2:0] BlockNone = 3'd0;
  localparam logic [2:0] BlockToken = 3'd1;
  localparam logic [2:0] BlockResultEmpty = 3'd2;
  localparam logic [2:0] BlockResultFull = 3'd3;
  localparam logic [2:0] BlockOutboxFull = 3'd4;
  localparam logic [2:0] BlockPipelineBusy = 3'd5;
  localparam logic [2:0] BlockHostInput = 3'd6;
  localparam logic [2:0] BlockIdle = 3'd7;

  typedef struct packed {
    logic [2:0]  block;
    logic [4:0]  token;  // BlockToken: which, how many there are, how many are needed
    logic [7:0]  have;
    logic [7:0]  need;
    logic [15:0] pc;     // index of the active instruction
  } status_t;
  localparam int unsigned StatusBits = 40;

  // States of the counters of a sequencer and of a way into the network.
  localparam logic [2:0] StateBusy = BlockNone;
  localparam logic [2:0] StateIdle = BlockIdle;
  localparam logic [2:0] SequencerQueueFull = 3'd1;
  localparam logic [2:0] NetworkOtherGranted = 3'd1;
  localparam logic [2:0] NetworkHostFull = 3'd2;

  // 2^48 cycles are ten days at 300 MHz; then a counter starts again at zero.
  localparam int unsigned CounterBits = 48;

  // What a unit shows to a watcher.
  typedef struct packed {
    logic [StatusBits-1:0]  status;  // a status_t
    logic [CounterBits-1:0] count;   // of the state that is asked for
  } watched_t;
endpackage
