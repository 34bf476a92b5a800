// The rows dialect: a model as bodies and families of rows, what the planner plans.
#ifndef SLUICE_ROWS_OPS_TD
#define SLUICE_ROWS_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rows_Dialect : Dialect {
  let name = "rows";
  let cppNamespace = "::sluice::rows";
  let summary = "a model as bodies with trip counts and families of rows";
  let description = [{
    A row is what the machine moves and computes as one: as many bf16 elements as it has lanes. A
    body is a loop over trips, its region the rows of one trip; a model without positions is one
    body with one trip. A family is the rows that a write makes, the same number in every trip.
    Weight blocks, biases and tables are objects of the program that rows refer to: each distinct
    one is there once.

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
  let summary = "one row: an element for every lane";
}

/// There is one such type, so texts need not name it.
def Rows_Row : Type<Rows_RowType.predicate, "row">,
               BuildableType<"$_builder.getType<::sluice::rows::RowType>()">;

class Rows_Op<string mnemonic, list<Trait> traits = []> : Op<Rows_Dialect, mnemonic, traits>;

def Rows_ProgramOp : Rows_Op<"program", [IsolatedFromAbove, NoRegionArguments, NoTerminator,
                                         SingleBlock, SymbolTable]> {
  let summary = "a model for a machine";
  let description = [{
    `geometry` is that of the core dialect. `nodes` are the source nodes, each a dictionary of
    `index`, `name` and `op`; rows name them by their place in that list. `macs` are the
    multiply-accumulates of one inference, without padding. `trees` says in words how rows are
    merged, if this is the program before it with other trees. `tensors` are those of the model that
    rows are elements of, each a dictionary of `name`, `shape`, `data_dim`.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$target, DictionaryAttr:$geometry, I64Attr:$macs,
                       I64Attr:$parameters, ArrayAttr:$nodes, OptionalAttr<StrAttr>:$trees,
                       OptionalAttr<ArrayAttr>:$tensors);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `for` $target attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

/// What names it refers to is verified with the program's table of names.
defvar Rows_RefersToNames = DeclareOpInterfaceMethods<SymbolUserOpInterface>;

/// A named object of a program.
class Rows_Object<string mnemonic, list<Trait> traits = []>
    : Rows_Op<mnemonic, !listconcat(traits, [Symbol, HasParent<"ProgramOp">])>;

/// A tensor at the host port: `rows` rows from `first_row` on. Neighbouring axes may be one in
/// them: `as` is the shape then, and the data dimension an axis of it.
class Rows_HostTensor<string mnemonic> : Rows_Object<mnemonic> {
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$name, TypeAttr:$type,
                       OptionalAttr<DenseI64ArrayAttr>:$packed, I64Attr:$data_dim,
                       I64Attr:$first_row, I64Attr:$rows);
  let assemblyFormat = [{
    $sym_name `:` $type (`as` $packed^)? `along` $data_dim `rows` $rows `from` $first_row attr-dict
  }];
  let hasVerifier = 1;
}

def Rows_InputOp : Rows_HostTensor<"input"> { let summary = "an input of the model"; }
def Rows_OutputOp : Rows_HostTensor<"output"> { let summary = "an output of the model"; }

def Rows_BlockOp : Rows_Object<"block"> {
  let summary = "a weight block";
  let description = [{
    [output lane][input position]. No two blocks are equal, except those marked `dynamic`, which
    `rows.fill` writes rows to in every inference: their elements are what is not written.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$elements, UnitAttr:$dynamic);
  let assemblyFormat = "(`dynamic` $dynamic^)? $sym_name $elements attr-dict";
  let hasVerifier = 1;
}

def Rows_BiasOp : Rows_Object<"bias"> {
  let summary = "what sums of products start from, an fp32 for every lane";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$elements);
  let assemblyFormat = "$sym_name $elements attr-dict";
  let hasVerifier = 1;
}

def Rows_TableOp : Rows_Object<"table"> {
  let summary = "a function table: its header words and entries (docs/machine.md)";
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$header, ElementsAttr:$entries);
  let assemblyFormat = "$sym_name $header $entries attr-dict";
  let hasVerifier = 1;
}

def Rows_StateOp : Rows_Object<"state"> {
  let summary = "a row that passes from one inference to the next, and what it is in the first";
  let description = [{
    A body recalls it once and keeps it once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$initial);
  let assemblyFormat = "$sym_name $initial attr-dict";
  let hasVerifier = 1;
}

def Rows_FamilyOp : Rows_Object<"family", [Rows_RefersToNames]> {
  let summary = "`rows` rows for each of `trips` trips";
  let description = [{
    Those of an input, of constants (trip by trip), or else what one body writes.
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
  let summary = "a loop of `trips` trips over the rows of one";
  let arguments = (ins I64Attr:$trips, I64Attr:$macs);
  let regions = (region SizedRegion<1>:$rows);
  let assemblyFormat = "$trips attr-dict-with-keyword $rows";
  let hasVerifier = 1;
}

/// An operation of a trip.
class Rows_TripOp<string mnemonic, list<Trait> traits = []>
    : Rows_Op<mnemonic, !listconcat(traits, [HasParent<"BodyOp">])>;

def Rows_ReadOp : Rows_TripOp<"read", [Rows_RefersToNames]> {
  let summary = "rows of a family: those of this trip, or from any trip";
  let description = [{
    With `at` result i of trip t is row `at[i]` + t * `step` of the family, counted trip by trip:
    what windows see overlaps. Without, the results are the rows of this trip.
  }];
  let arguments = (ins FlatSymbolRefAttr:$family, OptionalAttr<DenseI64ArrayAttr>:$at,
                       DefaultValuedAttr<I64Attr, "0">:$step);
  let results = (outs Variadic<Rows_RowType>:$rows);
  let assemblyFormat = "$family (`at` $at^)? attr-dict `:` type($rows)";
}

def Rows_ConstantOp : Rows_TripOp<"constant", [Pure]> {
  let summary = "a row that is known";
  let arguments = (ins ElementsAttr:$lanes);
  let results = (outs Rows_Row:$row);
  let assemblyFormat = "$lanes attr-dict";
  let hasVerifier = 1;
}

def Rows_RecallOp : Rows_TripOp<"recall", [Rows_RefersToNames]> {
  let summary = "a state, as the inference before kept it";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Rows_Row:$row);
  let assemblyFormat = "$state attr-dict";
}

def Rows_KeepOp : Rows_TripOp<"keep", [Rows_RefersToNames]> {
  let summary = "what a state is in the next inference";
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
    `step` has what differs from passing the sum on: `alu1`, `rhs1`, `imm1`, `reduce`, `alu2`,
    `rhs2`, `imm2`, `post`, `b_broadcast`, `c_broadcast`, with the words of the instruction set.
    Rows of one operation share a `group`; groups ascend. `elements` [tensor, row, step] says that
    the lanes are those of a row of a tensor of the model, `step` rows on with every trip; `part_of`
    that they are summed up to it with others.
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
  let summary = "step(a); with a reduction, of one or more rows `a` accumulated";
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
  let summary = "rows become part of a dynamic weight block";
  let description = [{
    Row i is input position `at[i]` of every output lane with `columns`, else the weights of
    output lane `at[i]`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$block, UnitAttr:$columns, Variadic<Rows_Row>:$rows,
                       DenseI64ArrayAttr:$at,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$nodes);
  let assemblyFormat = "$block (`columns` $columns^)? `with` $rows `at` $at attr-dict";
  let hasVerifier = 1;
}

def Rows_WriteOp : Rows_TripOp<"write", [Rows_RefersToNames]> {
  let summary = "rows of this trip become those of a family, or rows of an output";
  let description = [{
    Row r of trip t becomes host row `first[r]` + t * `stride` of the outputs, or of a family with
    `first` that row of it: several bodies may then write parts of a family. With `fold` (`sum`,
    `max`, `min`, `product`) the rows of trips that are folded into one are a family's: its trips
    are parts of the body's. Of a sum there are twice as many rows: after the rounded ones what
    rounding has left of each.
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
