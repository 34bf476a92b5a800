// One test per message of the verifiers.
// RUN: sluice-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'rows.program' op geometry has no rtl}}
rows.program "m" for "c2b8" attributes {geometry = {}, macs = 0, parameters = 0, nodes = []} {
}

// -----

// expected-error @+1 {{'rows.program' op has a node {index = 0 : i64}, expected {index, name, op}}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0 : i64}]} {
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  // expected-error @+1 {{'rows.output' op row 1 is never written}}
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 1 attributes {macs = 0} {
    %0 = rows.read @fx at [0] : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 output @y from [0] 
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-note @+1 {{first defined here}}
  rows.block @w0 dense<1.0> : tensor<8x8xbf16>
  // expected-error @+1 {{'rows.block' op is a duplicate}}
  rows.block @w1 dense<1.0> : tensor<8x8xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-note @+1 {{first defined here}}
  rows.bias @b0 dense<1.0> : tensor<8xf32>
  // expected-error @+1 {{'rows.bias' op is a duplicate}}
  rows.bias @b1 dense<1.0> : tensor<8xf32>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.input' op must have the type of a non-empty static tensor}}
  rows.input @x : tensor<?x8xf32> along 1 rows 4 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.input' op has elements of 'i8', allowed: f32, bf16, f16, f64, i1, si8 to si64, ui8 to ui64}}
  rows.input @x : tensor<4x8xi8> along 1 rows 4 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.input' op has data dimension 2 but rank 2}}
  rows.input @x : tensor<4x8xf32> along 2 rows 4 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.output' op has 5 rows but its shape needs 4}}
  rows.output @x : tensor<4x8xf32> along 1 rows 5 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.block' op has elements of 'tensor<8x4xbf16>', expected dense 'tensor<8x8xbf16>'}}
  rows.block @w dense<0.0> : tensor<8x4xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.bias' op has elements of 'tensor<4xf32>', expected dense 'tensor<8xf32>'}}
  rows.bias @w dense<0.0> : tensor<4xf32>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.table' op has a header of 2 words, expected 4}}
  rows.table @t [0, 1] dense<0.0> : tensor<4096xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.table' op has elements of 'tensor<16xbf16>', expected dense 'tensor<4096xbf16>'}}
  rows.table @t [0, 1, 2, 3] dense<0.0> : tensor<16xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.family' op has 1 rows and trip count 0, allowed: at least 1, and 1 to 65535}}
  rows.family @f 0 x 1
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  // expected-error @+1 {{'rows.family' op cannot be both an input and a constant}}
  rows.family @fx 4 x 1 input @x constant dense<0.0> : tensor<4x8xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.family' op has elements of 'tensor<4x4xbf16>', expected dense 'tensor<4x8xbf16>'}}
  rows.family @f 4 x 1 constant dense<0.0> : tensor<4x4xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  // expected-error @+1 {{'rows.family' op has 8 rows but its input has 4}}
  rows.family @fx 4 x 2 input @x
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  // expected-error @+1 {{'rows.family' op refers to @z, which is not a rows.input of the program}}
  rows.family @f 4 x 1 input @z
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  // expected-error @+1 {{'rows.body' op has trip count 0, allowed: 1 to 65535}}
  rows.body 0 attributes {macs = 0} {
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op refers to @z, which is not a rows.family of the program}}
    %0 = rows.read @z : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 3 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op reads a family of trip count 4 in a body of trip count 3}}
    %0 = rows.read @fx : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op has 2 results but the family has 1 rows per iteration}}
    %0:2 = rows.read @fx : !rows.row, !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op has 1 results for 2 indices}}
    %0 = rows.read @fx at [0, 1] : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op reads index 4 of a family of 4 rows}}
    %0 = rows.read @fx at [4] : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 4 x 1
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op reads @h, which no earlier body writes}}
    %0 = rows.read @h : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.constant' op has elements of 'tensor<4xbf16>', expected dense 'tensor<8xbf16>'}}
    %0 = rows.constant dense<0.0> : tensor<4xbf16>
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.linear' op has 1 rows and 2 weight blocks, expected equal numbers, at least 1}}
    %1 = rows.linear %0 by [@w, @w] {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.linear' op refers to @v, which is not a rows.block of the program}}
    %1 = rows.linear %0 by [@v] {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.linear' op refers to @w, which is not a rows.bias of the program}}
    %1 = rows.linear %0 by [@w] bias @w {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block dynamic @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.linear' op multiplies by @w before it is filled}}
    %1 = rows.linear %0 by [@w] {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op refers to @w, which is not a rows.table of the program}}
    %1 = rows.vector %0 table @w {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has 2 rows to accumulate but no reduction}}
    %1 = rows.vector %0, %0 {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has a step that reads operand b, which is missing}}
    %1 = rows.vector %0 step {alu1 = "add"} {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has a step that reads operand c, which is missing}}
    %1 = rows.vector %0 step {alu2 = "mul", rhs2 = "c"} {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has unknown step 'alu3'}}
    %1 = rows.vector %0 step {alu3 = "add"} {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has a step with b_wide, which needs operands b and c}}
    %1 = rows.vector %0 step {alu1 = "mul", b_wide} b(%0) {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has a step with b_wide that reads operand c, which holds the lower halves of b}}
    %1 = rows.vector %0 step {alu1 = "mul", alu2 = "add", b_wide} b(%0) c(%0) {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has an invalid value for step 'alu1'}}
    %1 = rows.vector %0 step {alu1 = "pow"} {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has an invalid value for step 'imm1'}}
    %1 = rows.vector %0 step {alu1 = "add", rhs1 = "imm", imm1 = 1.0 : f64} {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op refers to node 1; the program has 1 nodes}}
    %1 = rows.vector %0 {group = 1, nodes = array<i64: 1>}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %2 = rows.vector %0 {group = 2}
    // expected-error @+1 {{'rows.vector' op is in group 1 but comes after group 2}}
    %1 = rows.vector %0 {group = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.fill' op writes to @w, which is not dynamic}}
    rows.fill @w with %0 at [0]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block dynamic @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.fill' op has 1 rows for 2 indices, expected equal numbers, at least 1}}
    rows.fill @w with %0 at [0, 1]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block dynamic @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.fill' op writes index 0 twice or outside the block}}
    rows.fill @w with %0, %0 at [0, 0]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.block dynamic @w dense<1.0> : tensor<8x8xbf16>
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    rows.fill @w with %0 at [0]
    // expected-error @+1 {{'rows.fill' op fills @w twice}}
    rows.fill @w with %0 at [1]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes neither to a family nor to an output}}
    rows.write %1
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.write' op writes row 0, which is not computed}}
    rows.write %0 output @y from [0] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op has indices for 2 of 1 rows}}
    rows.write %1 output @y from [0, 1] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op refers to @x, which is not a rows.output of the program}}
    rows.write %1 output @x from [0] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 4 x 2
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes 1 rows with trip count 4; the family has 2 with trip count 4}}
    rows.write %1 family @h
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 4 x 1
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 family @h
    // expected-error @+1 {{'rows.write' op writes @h twice}}
    rows.write %1 family @h
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes host row 4 in iteration 2; the output has rows 0 to 3}}
    rows.write %1 output @y from [0] {stride = 2}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes host row 0 twice}}
    rows.write %1 output @y from [0]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op reduces rows but writes no family}}
    rows.write %1 fold "sum" output @y from [0] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 2 x 1
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op reduces by 'mean', allowed: sum, max, min, product}}
    rows.write %1 family @h fold "mean"
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 2 x 1
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op reduces 4 iterations to 2 rows each; the family has 1 rows and trip count 2}}
    rows.write %1 family @h fold "sum"
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.vector' op has no operand row}}
    %1 = "rows.vector"() {group = 1, operandSegmentSizes = array<i32: 0, 0, 0>} : () -> !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'arith.constant' op is not an operation on rows}}
    %1 = arith.constant 1.0 : f32
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  // expected-error @+1 {{'func.func' op is neither a loop body nor an object of the program}}
  func.func private @f()
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op has a step but no start index}}
    %0 = rows.read @fx {step = 1} : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 3 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op reads index 5 of a family of 4 rows}}
    %0 = rows.read @fx at [1] {step = 2} : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 1 x 4
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes to a family and to an output; only one is allowed}}
    rows.write %1 family @h output @y from [0] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 1 x 4
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op cannot both reduce rows and give their indices}}
    rows.write %1 family @h fold "max" from [0]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 1 x 4
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.vector %0 {group = 1}
    // expected-error @+1 {{'rows.write' op writes index 4 in iteration 3 of a family of 4 rows}}
    rows.write %1 family @h from [1] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 1 x 4
  rows.body 2 attributes {macs = 0} {
    %0 = rows.read @fx at [0] {step = 1} : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 family @h from [0] {stride = 1}
    // expected-error @+1 {{'rows.write' op writes index 1 of @h twice}}
    rows.write %1 family @h from [1] {stride = 1}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 1 x 4
  rows.body 2 attributes {macs = 0} {
    %0 = rows.read @fx at [0] {step = 1} : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 family @h from [0] {stride = 1}
  }
  rows.body 2 attributes {macs = 0} {
    // expected-error @+1 {{'rows.read' op reads @h, which no earlier body writes}}
    %0 = rows.read @h at [0] {step = 1} : !rows.row
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [{index = 0, name = "n", op = "Relu"}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.family @h 2 x 2
  rows.body 2 attributes {macs = 0} {
    %0 = rows.read @fx at [0] {step = 1} : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 family @h from [0] {stride = 1}
    // expected-error @+1 {{'rows.write' op writes @h twice}}
    rows.write %1, %1 family @h
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.state' op has elements of 'tensor<4xbf16>', expected dense 'tensor<8xbf16>'}}
  rows.state @h dense<0.0> : tensor<4xbf16>
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.state' op is kept 0 times, expected 1}}
  rows.state @h dense<0.0> : tensor<8xbf16>
  rows.output @y : tensor<8xf32> along 0 rows 1 from 0
  rows.body 1 attributes {macs = 0} {
    %0 = rows.recall @h
    %1 = rows.vector %0 {group = 1}
    rows.write %1 output @y from [0]
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.state' op is recalled 2 times, expected 1}}
  rows.state @h dense<0.0> : tensor<8xbf16>
  rows.output @y : tensor<8xf32> along 0 rows 1 from 0
  rows.body 1 attributes {macs = 0} {
    %0 = rows.recall @h
    %1 = rows.recall @h
    %2 = rows.vector %0 {group = 1}
    rows.write %2 output @y from [0]
    rows.keep %1 in @h
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  rows.state @h dense<0.0> : tensor<8xbf16>
  rows.body 2 attributes {macs = 0} {
    // expected-error @+1 {{'rows.recall' op is in a body with trip count 2, expected 1}}
    %0 = rows.recall @h
    rows.keep %0 in @h
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  rows.body 1 attributes {macs = 0} {
    // expected-error @+1 {{'rows.recall' op refers to @h, which is not a rows.state of the program}}
    %0 = rows.recall @h
  }
}

// -----

// expected-error @+1 {{'rows.program' op has a tensor {name = "h", shape = array<i64: 4, 8>}, expected {name, shape, data_dim} and optionally packed}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{name = "h", shape = array<i64: 4, 8>}]} {
}

// -----

// expected-error @+1 {{'rows.program' op has a tensor {data_dim = 2 : i64, name = "h", shape = array<i64: 4, 8>}, expected {name, shape, data_dim} and optionally packed}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 2 : i64, name = "h", shape = array<i64: 4, 8>}]} {
}

// -----

// expected-error @+1 {{'rows.program' op has a tensor {data_dim = 0 : i64, name = "h", shape = array<i64: 0>}, expected {name, shape, data_dim} and optionally packed}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 0 : i64, name = "h", shape = array<i64: 0>}]} {
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 1 : i64, name = "h", shape = array<i64: 4, 10>}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op cannot have both 'elements' and 'part_of'}}
    %1 = rows.vector %0 {group = 1 : i64, elements = array<i64: 0, 0, 2>, part_of = array<i64: 0, 0, 2>}
    rows.write %1 output @y from [0] {stride = 1 : i64}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 1 : i64, name = "h", shape = array<i64: 4, 10>}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has elements [1, 0, 2], expected a tensor index below 1, a row and a step}}
    %1 = rows.vector %0 {group = 1 : i64, elements = array<i64: 1, 0, 2>}
    rows.write %1 output @y from [0] {stride = 1 : i64}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 1 : i64, name = "h", shape = array<i64: 4, 10>}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op has elements [0, 0], expected a tensor index below 1, a row and a step}}
    %1 = rows.vector %0 {group = 1 : i64, part_of = array<i64: 0, 0>}
    rows.write %1 output @y from [0] {stride = 1 : i64}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 1 : i64, name = "h", shape = array<i64: 4, 10>}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op is row 8, but the row count of the tensor is 8}}
    %1 = rows.vector %0 {group = 1 : i64, elements = array<i64: 0, 2, 2>}
    rows.write %1 output @y from [0] {stride = 1 : i64}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{data_dim = 1 : i64, name = "h", shape = array<i64: 4, 10>}]} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 4 x 1 input @x
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @fx : !rows.row
    // expected-error @+1 {{'rows.vector' op is row -2, but the row count of the tensor is 8}}
    %1 = rows.vector %0 {group = 1 : i64, part_of = array<i64: 0, 1, -1>}
    rows.write %1 output @y from [0] {stride = 1 : i64}
  }
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.input' op is packed as [16] but has 32 elements}}
  rows.input @x : tensor<4x8xf32> as [16] along 0 rows 2 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.input' op is packed as [-4, -8] but has 32 elements}}
  rows.input @x : tensor<4x8xf32> as [-4, -8] along 0 rows 2 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.input' op has data dimension 1 but rank 1}}
  rows.input @x : tensor<4x8xf32> as [32] along 1 rows 4 from 0
}

// -----

rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  // expected-error @+1 {{'rows.input' op has 32 rows but its shape needs 4}}
  rows.input @x : tensor<4x8xf32> as [32] along 0 rows 32 from 0
}

// -----

// expected-error @+1 {{'rows.program' op has a tensor {data_dim = 0 : i64, name = "h", packed = array<i64: 4, 4>, shape = array<i64: 4, 8>}, expected {name, shape, data_dim} and optionally packed}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{name = "h", shape = array<i64: 4, 8>, packed = array<i64: 4, 4>, data_dim = 0}]} {
}

// -----

// expected-error @+1 {{'rows.program' op has a tensor {data_dim = 0 : i64, name = "h", packed = array<i64: 0>, shape = array<i64: 4, 8>}, expected {name, shape, data_dim} and optionally packed}}
rows.program "m" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = [],
    tensors = [{name = "h", shape = array<i64: 4, 8>, packed = array<i64: 0>, data_dim = 0}]} {
}
