// The rows dialect: a model as loop bodies and families of rows, the input of the planner.
#ifndef SLUICE_ROWS_OPS_TD
#define SLUICE_ROWS_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rows_Dialect : Dialect {
  let name = "rows";
  let cppNamespace = "::sluice::rows";
  let summary = "a model as loop bodies and families of rows";
  let description = [{
    A row is the unit that the hardware moves and computes: one bf16 element per lane. A body is a
    loop; its region computes the rows of one iteration. A model without loops is one body with trip
    count 1. A family holds the rows that a write produces, the same number in every iteration. Rows
    refer to weight blocks, biases and tables by name; the program holds each distinct one once.

        rows.body 64 {
          %0 = rows.read @x
          %1 = rows.linear %0 by [@w0] bias @b0 step {post = "relu"} {group = 1 : i64}
          rows.write %1 family @h
        }
  }];
  let useDefaultTypePrinterParser = 1;
}

def Rows_RowType : TypeDef<Rows_Dialect, "Row"> {
  let mnemonic = "row";
  let summary = "one row: one element per lane";
}

/// There is one such type, so texts need not name it.
def Rows_Row : Type<Rows_RowType.predicate, "row">,
               BuildableType<"$_builder.getType<::sluice::rows::RowType>()">;

class Rows_Op<string mnemonic, list<Trait> traits = []> : Op<Rows_Dialect, mnemonic, traits>;

def Rows_ProgramOp : Rows_Op<"program", [IsolatedFromAbove, NoRegionArguments, NoTerminator,
                                         SingleBlock, SymbolTable]> {
  let summary = "a model for a target";
  let description = [{
    `geometry` is as in the core dialect. `nodes` lists the source nodes, each a dictionary of
    `index`, `name` and `op`; rows refer to them by their position in the list. `macs` counts the
    multiply-accumulates of one inference, without those by weights of 0. If this program differs
    from the one before it only in its reduction trees or in the order of its rows, `variant` says how.
    `tensors` lists the
    tensors of the model whose elements the rows hold, each a dictionary of `name`, `shape` and
    `data_dim`.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$target, DictionaryAttr:$geometry, I64Attr:$macs,
                       I64Attr:$parameters, ArrayAttr:$nodes, OptionalAttr<StrAttr>:$variant,
                       OptionalAttr<ArrayAttr>:$tensors);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `for` $target attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

/// The symbol table of the program verifies the names that an operation refers to.
defvar Rows_RefersToNames = DeclareOpInterfaceMethods<SymbolUserOpInterface>;

/// A named object of a program.
class Rows_Object<string mnemonic, list<Trait> traits = []>
    : Rows_Op<mnemonic, !listconcat(traits, [Symbol, HasParent<"ProgramOp">])>;

/// A tensor at the host port: `rows` rows, starting at `first_row`. If adjacent axes are merged,
/// `as` gives the merged shape, and the data dimension is an axis of that shape. `within` gives the
/// least and the largest integer that an input of integers accepts.
class Rows_HostTensor<string mnemonic> : Rows_Object<mnemonic> {
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$name, TypeAttr:$type,
                       OptionalAttr<DenseI64ArrayAttr>:$packed, I64Attr:$data_dim,
                       I64Attr:$first_row, I64Attr:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$limits);
  let assemblyFormat = [{
    $sym_name `:` $type (`as` $packed^)? (`within` $limits^)? `along` $data_dim `rows` $rows `from` $first_row attr-dict
  }];
  let hasVerifier = 1;
}

def Rows_InputOp : Rows_HostTensor<"input"> { let summary = "an input of the model"; }
def Rows_OutputOp : Rows_HostTensor<"output"> { let summary = "an output of the model"; }

def Rows_BlockOp : Rows_Object<"block"> {
  let summary = "a weight block";
  let description = [{
    Indexed by [output lane][input position]. No two blocks are equal, except `dynamic` blocks:
    `rows.fill` writes rows to them in every inference, and `elements` gives the rest.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$elements, UnitAttr:$dynamic);
  let assemblyFormat = "(`dynamic` $dynamic^)? $sym_name $elements attr-dict";
  let hasVerifier = 1;
}

def Rows_BiasOp : Rows_Object<"bias"> {
  let summary = "the initial value of sums of products, one fp32 per lane";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$elements);
  let assemblyFormat = "$sym_name $elements attr-dict";
  let hasVerifier = 1;
}

def Rows_TableOp : Rows_Object<"table"> {
  let summary = "a function table: header words and entries (docs/machine.md)";
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$header, ElementsAttr:$entries);
  let assemblyFormat = "$sym_name $header $entries attr-dict";
  let hasVerifier = 1;
}

def Rows_StateOp : Rows_Object<"state"> {
  let summary = "a row that passes from one inference to the next, with its initial value";
  let description = [{
    One `rows.recall` reads it and one `rows.keep` writes it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$initial);
  let assemblyFormat = "$sym_name $initial attr-dict";
  let hasVerifier = 1;
}

def Rows_FamilyOp : Rows_Object<"family", [Rows_RefersToNames]> {
  let summary = "`rows` rows for each of `trips` iterations";
  let description = [{
    Holds the rows of an input, constants (by iteration), or the rows that one body writes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$name, I64Attr:$trips,
                       I64Attr:$rows, OptionalAttr<FlatSymbolRefAttr>:$input,
                       OptionalAttr<ElementsAttr>:$constant);
  let assemblyFormat = [{
    $sym_name $trips `x` $rows (`input` $input^)? (`constant` $constant^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Rows_BodyOp : Rows_Op<"body", [HasParent<"ProgramOp">, NoRegionArguments, NoTerminator,
                                   SingleBlock]> {
  let summary = "a loop over the rows of one iteration";
  let arguments = (ins I64Attr:$trips, I64Attr:$macs);
  let regions = (region SizedRegion<1>:$rows);
  let assemblyFormat = "$trips attr-dict-with-keyword $rows";
  let hasVerifier = 1;
}

/// An operation of one iteration.
class Rows_TripOp<string mnemonic, list<Trait> traits = []>
    : Rows_Op<mnemonic, !listconcat(traits, [HasParent<"BodyOp">])>;

def Rows_ReadOp : Rows_TripOp<"read", [Rows_RefersToNames]> {
  let summary = "rows of a family, of this iteration or of any";
  let description = [{
    With `at`, result i of iteration t is row `at[i]` + t * `step` of the family, numbered iteration
    by iteration, so that windows can overlap. Without `at`, the results are the rows of this
    iteration.
  }];
  let arguments = (ins FlatSymbolRefAttr:$family, OptionalAttr<DenseI64ArrayAttr>:$at,
                       DefaultValuedAttr<I64Attr, "0">:$step);
  let results = (outs Variadic<Rows_RowType>:$rows);
  let assemblyFormat = "$family (`at` $at^)? attr-dict `:` type($rows)";
}

def Rows_ConstantOp : Rows_TripOp<"constant", [Pure]> {
  let summary = "a row known at compile time";
  let arguments = (ins ElementsAttr:$lanes);
  let results = (outs Rows_Row:$row);
  let assemblyFormat = "$lanes attr-dict";
  let hasVerifier = 1;
}

def Rows_RecallOp : Rows_TripOp<"recall", [Rows_RefersToNames]> {
  let summary = "the value of a state from the previous inference";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Rows_Row:$row);
  let assemblyFormat = "$state attr-dict";
}

def Rows_KeepOp : Rows_TripOp<"keep", [Rows_RefersToNames]> {
  let summary = "the value of a state for the next inference";
  let arguments = (ins Rows_Row:$row, FlatSymbolRefAttr:$state);
  let assemblyFormat = "$row `in` $state attr-dict";
}

/// The datapath of a vector beat: post(alu2(reduce(table(alu1(a, rhs1))), rhs2)).
class Rows_Computed<string mnemonic, list<Trait> traits = []>
    : Rows_TripOp<mnemonic, !listconcat(traits, [AttrSizedOperandSegments,
                                                 Rows_RefersToNames])> {
  let results = (outs Rows_Row:$row);
  let hasVerifier = 1;
}

def Rows_LinearOp : Rows_Computed<"linear"> {
  let summary = "step(bias + sum of block * row)";
  let description = [{
    `step` lists the fields that differ from passing the sum on: `alu1`, `rhs1`, `imm1`, `reduce`,
    `alu2`, `rhs2`, `imm2`, `post`, `b_broadcast`, `c_broadcast`, with values as in the instruction
    set. Rows of one operation share a `group`; groups ascend. `elements` [tensor, row, step] says
    that the result is this row of a tensor of the model, `step` rows further in every iteration.
    `part_of` says the same of a partial sum of the row.
  }];
  let arguments = (ins Variadic<Rows_Row>:$terms, Optional<Rows_Row>:$b, Optional<Rows_Row>:$c,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "weight blocks">:$blocks,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, OptionalAttr<DictionaryAttr>:$step,
                       OptionalAttr<FlatSymbolRefAttr>:$table, I64Attr:$group,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$nodes,
                       OptionalAttr<DenseI64ArrayAttr>:$elements,
                       OptionalAttr<DenseI64ArrayAttr>:$part_of);
  let assemblyFormat = [{
    $terms `by` $blocks (`bias` $bias^)? (`step` $step^)? (`table` $table^)? (`b` `(` $b^ `)`)?
    (`c` `(` $c^ `)`)? attr-dict
  }];
}

def Rows_VectorOp : Rows_Computed<"vector"> {
  let summary = "step(a), or step of the accumulated rows `a` with a reduction";
  let arguments = (ins Variadic<Rows_Row>:$a, Optional<Rows_Row>:$b, Optional<Rows_Row>:$c,
                       OptionalAttr<DictionaryAttr>:$step, OptionalAttr<FlatSymbolRefAttr>:$table,
                       I64Attr:$group, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$nodes,
                       OptionalAttr<DenseI64ArrayAttr>:$elements,
                       OptionalAttr<DenseI64ArrayAttr>:$part_of);
  let assemblyFormat = [{
    $a (`step` $step^)? (`table` $table^)? (`b` `(` $b^ `)`)? (`c` `(` $c^ `)`)? attr-dict
  }];
}

def Rows_FillOp : Rows_TripOp<"fill", [Rows_RefersToNames]> {
  let summary = "write rows to a dynamic weight block";
  let description = [{
    With `columns`, row i becomes input position `at[i]` of every output lane. Otherwise it becomes
    the weights of output lane `at[i]`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$block, UnitAttr:$columns, Variadic<Rows_Row>:$rows,
                       DenseI64ArrayAttr:$at,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$nodes);
  let assemblyFormat = "$block (`columns` $columns^)? `with` $rows `at` $at attr-dict";
  let hasVerifier = 1;
}

def Rows_WriteOp : Rows_TripOp<"write", [Rows_RefersToNames]> {
  let summary = "write rows of this iteration to a family or an output";
  let description = [{
    Row r of iteration t becomes host row `first[r]` + t * `stride` of the outputs, or, with `first`,
    that row of the family. Several bodies may then write parts of one family. With `fold` (`sum`,
    `max`, `min`, `product`) the rows are reduced over iterations, and the family holds the partial
    results: its trip count is the number of parts. A sum has twice as many rows: after the rounded
    sums come their rounding errors.
  }];
  let arguments = (ins Variadic<Rows_Row>:$rows, OptionalAttr<FlatSymbolRefAttr>:$family,
                       OptionalAttr<StrAttr>:$fold,
                       OptionalAttr<FlatSymbolRefAttr>:$output,
                       OptionalAttr<DenseI64ArrayAttr>:$first,
                       DefaultValuedAttr<I64Attr, "0">:$stride);
  let assemblyFormat = [{
    $rows (`family` $family^)? (`fold` $fold^)? (`output` $output^)? (`from` $first^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
