#!/usr/bin/env python3
"""Generates isa_pkg.sv, isa.h, isa.cpp, isa.md and the operations of the core dialect from the
instruction table.

usage: gen_isa.py isa.json (--sv F | --header F | --source F | --markdown F | --tablegen F)...
"""
import argparse
import json
import os

KIND = {"seq": "sequencer", "mxu": "matrix unit", "vec": "vector unit", "host": "host port"}


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def lower_camel(name):
    text = camel(name)
    return text[0].lower() + text[1:]


def load(path):
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    total = table["word_bits"] * table["words"]
    for inst in table["instructions"]:
        fields = []
        for group in inst.get("groups", []):
            fields += table["groups"][group]
        fields += inst["fields"]
        offset, layout = 4, []
        for field in fields:
            count = field.get("count", 1)
            layout.append({**field, "count": count, "offset": offset, "signed": field.get("signed", False)})
            offset += field["bits"] * count
        if offset > total:
            raise SystemExit(f"{inst['name']}: {offset} bits do not fit in {total}")
        inst["layout"], inst["bits"] = layout, offset
    table["stages"] = [item for item in table["latencies"] if "least" in item]
    for item in table["stages"]:
        if not item["least"] <= item["value"] <= item["most"]:
            raise SystemExit(f"{item['name']}: {item['value']} is not in {item['least']} to {item['most']}")
    return table


def fixed(table):
    """The constants and the latencies that no target sets."""
    return table["constants"] + [item for item in table["latencies"] if "least" not in item]


def emit_sv(table):
    out = ["// Generated from hw/isa/isa.json by tools/gen_isa.py.", "package isa_pkg;"]
    out.append(f"  localparam int unsigned InstBits = {table['word_bits'] * table['words']};")
    for item in fixed(table):
        out.append(f"  localparam int unsigned {camel(item['name'])} = {item['value']};  // {item['doc']}")
    for item in table["stages"]:
        name = camel(item["name"])
        out.append(f"  // {item['doc']}")
        out.append(f"  localparam int unsigned {name}Default = {item['value']};")
        out.append(f"  localparam int unsigned {name}Least = {item['least']};")
        out.append(f"  localparam int unsigned {name}Most = {item['most']};")
    for name, enum in table["enums"].items():
        width = max(1, (max(enum["values"].values())).bit_length())
        for field_width in [f["bits"] for i in table["instructions"] for f in i["layout"] if f.get("enum") == name]:
            width = field_width
        for value, code in enum["values"].items():
            out.append(f"  localparam logic [{width - 1}:0] {camel(name)}{camel(value)} = {width}'d{code};")
    for inst in table["instructions"]:
        out.append(f"  localparam logic [3:0] Op{camel(inst['name'])} = 4'd{inst['opcode']};")
    for inst in table["instructions"]:
        if not inst["layout"]:
            continue
        # A packed struct lists its most significant member first.
        out.append("  typedef struct packed {")
        pad = table["word_bits"] * table["words"] - inst["bits"]
        if pad:
            out.append(f"    logic [{pad - 1}:0] unused;")
        for field in reversed(inst["layout"]):
            packed = f"[{field['count'] - 1}:0]" if field["count"] > 1 else ""
            out.append(f"    logic {packed}[{field['bits'] - 1}:0] {field['name']};")
        out.append("    logic [3:0] op;")
        out.append(f"  }} {inst['name']}_inst_t;")
    out.append("endpackage")
    return "\n".join(out) + "\n"


def largest_values(table):
    """(name, largest value) of the plain fields that are as wide in every instruction."""
    widths = {}
    for inst in table["instructions"]:
        for field in inst["layout"]:
            if "enum" not in field:
                widths.setdefault(field["name"], set()).add(field["bits"] - field["signed"])
    return [(name, (1 << min(bits)) - 1) for name, bits in widths.items() if len(bits) == 1 and min(bits) in range(2, 32)]


def emit_header(table):
    out = ["// Generated from hw/isa/isa.json by tools/gen_isa.py.", "#pragma once", "",
           "#include <array>", "#include <cstdint>", "#include <optional>", "#include <span>",
           "#include <string>", "#include <string_view>", "#include <variant>", "", "namespace sluice::isa {", "",
           f"inline constexpr unsigned kWords = {table['words']};",
           f"inline constexpr unsigned kInstBits = {table['word_bits'] * table['words']};",
           f"inline constexpr unsigned kVersion = {table['version']};",
           "using Words = std::array<uint64_t, kWords>;", ""]
    for item in fixed(table):
        out.append(f"inline constexpr unsigned k{camel(item['name'])} = {item['value']}; ///< {item['doc']}")
    out += ["", "/// The latencies that a target sets, in cycles. The initial values are those of a target that",
            "/// does not set them.", "struct Stages {"]
    out += [f"  uint32_t {lower_camel(item['name'])} = {item['value']}; ///< {item['doc']}" for item in table["stages"]]
    out += ["  bool operator==(const Stages &) const = default;", "};", "",
            "/// One of the latencies that a target sets, and its limits.", "struct StageInfo {",
            "  const char *name; ///< in target files", "  uint32_t Stages::*value;", "  uint32_t least;", "  uint32_t most;", "};", "",
            "/// The latencies that a target sets, in the order of the table.",
            "inline constexpr StageInfo kStages[] = {"]
    out += [f"    {{\"{item['name']}\", &Stages::{lower_camel(item['name'])}, {item['least']}, {item['most']}}},"
            for item in table["stages"]]
    out += ["};"]
    out += [f"inline constexpr uint32_t kMost{camel(item['name'])} = {item['most']};" for item in table["stages"]]
    out += ["", "// The largest value of a field."]
    out += [f"inline constexpr uint32_t kMost{camel(name)} = {value};" for name, value in largest_values(table)]
    for name, enum in table["enums"].items():
        out += ["", f"/// {enum['doc'][0].upper() + enum['doc'][1:]}.", f"enum class {camel(name)} : uint8_t {{"]
        out += [f"  {camel(value)} = {code}," for value, code in enum["values"].items()]
        out.append("};")
    out += ["", "enum class Opcode : uint8_t {"]
    out += [f"  {camel(inst['name'])} = {inst['opcode']}," for inst in table["instructions"]]
    out += ["};", "", "/// The unit that executes an opcode.", "enum class Unit : uint8_t { Seq, Mxu, Vec, Host };", ""]
    for inst in table["instructions"]:
        out += [f"/// {inst['doc'][0].upper() + inst['doc'][1:]}.", f"struct {camel(inst['name'])} {{",
                f"  static constexpr Opcode kOpcode = Opcode::{camel(inst['name'])};"]
        for field in inst["layout"]:
            ctype = camel(field["enum"]) if "enum" in field else ("int32_t" if field["signed"] else "uint32_t")
            if field["count"] > 1:
                fill = ", ".join(["1" if field["name"] == "n" else "0"] * field["count"])
                out.append(f"  std::array<{ctype}, {field['count']}> {lower_camel(field['name'])}{{{fill}}}; ///< {field['doc']}")
            else:
                init = f" = {ctype}{{}}" if "enum" in field else " = 0"
                out.append(f"  {ctype} {lower_camel(field['name'])}{init}; ///< {field['doc']}")
        out += [f"  bool operator==(const {camel(inst['name'])} &) const = default;", "};", ""]
    names = ", ".join(camel(inst["name"]) for inst in table["instructions"])
    out += [f"using Instruction = std::variant<{names}>;", "",
            "/// A field of an instruction.",
            "struct FieldInfo {", "  std::string_view name;", "  unsigned offset;", "  unsigned bits;", "  unsigned count;",
            "  bool isSigned;", "  std::string_view enumName; ///< empty if plain", "  std::string_view doc;", "};", "",
            "/// An instruction and its fields.",
            "struct InstructionInfo {", "  std::string_view name;", "  Opcode opcode;", "  Unit unit;", "  unsigned bits;",
            "  std::span<const FieldInfo> fields;", "  std::string_view doc;", "};", "",
            "/// Returns all instructions, in the order of the table.", "std::span<const InstructionInfo> instructions();", "",
            "/// Returns the instruction of an opcode, or null if there is none.", "const InstructionInfo *lookup(unsigned opcode);", "",
            "/// Returns element `index` of a field, sign-extended if the field is signed.",
            "int64_t getField(const Words &words, const FieldInfo &field, unsigned index = 0);", "",
            "/// Writes element `index` of a field. Returns false if the value does not fit.",
            "bool setField(Words &words, const FieldInfo &field, unsigned index, int64_t value);", "",
            "/// Encodes an instruction. Returns nothing if a value does not fit its field.", "std::optional<Words> encode(const Instruction &inst);", "",
            "/// Decodes an instruction. Returns nothing if the opcode is unknown, a bit outside the fields",
            "/// is set, or an enumerated field has an unknown value. Does not check ranges.",
            "std::optional<Instruction> decode(const Words &words);", "",
            "/// Returns the name of a value of an enumeration, or an empty string if there is none.",
            "std::string_view enumValueName(std::string_view enumName, unsigned value);", "",
            "/// Returns the value of a name of an enumeration, or nothing if there is none.",
            "std::optional<unsigned> enumValue(std::string_view enumName, std::string_view name);", "",
            "/// Returns one line of text: the mnemonic and every field that is not at its default.",
            "std::string disassemble(const Words &words);", "", "} // namespace sluice::isa"]
    return "\n".join(out) + "\n"


def emit_source(table):
    out = ["// Generated from hw/isa/isa.json by tools/gen_isa.py.", '#include "hw/isa/isa.h"', "", "namespace sluice::isa {",
           "namespace {", ""]
    for inst in table["instructions"]:
        if not inst["layout"]:
            continue
        out.append(f"constexpr FieldInfo k{camel(inst['name'])}Fields[] = {{")
        for field in inst["layout"]:
            out.append(f"    {{\"{field['name']}\", {field['offset']}, {field['bits']}, {field['count']}, "
                       f"{str(field['signed']).lower()}, \"{field.get('enum', '')}\", \"{field['doc']}\"}},")
        out.append("};")
    out += ["", "constexpr InstructionInfo kInstructions[] = {"]
    for inst in table["instructions"]:
        fields = f"k{camel(inst['name'])}Fields" if inst["layout"] else "{}"
        out.append(f"    {{\"{inst['name']}\", Opcode::{camel(inst['name'])}, Unit::{camel(inst['unit'])}, {inst['bits']}, {fields}, "
                   f"\"{inst['doc']}\"}},")
    out += ["};", "", "struct EnumValue {", "  std::string_view enumName;", "  std::string_view name;", "  unsigned value;", "};",
            "constexpr EnumValue kEnumValues[] = {"]
    for name, enum in table["enums"].items():
        out += [f"    {{\"{name}\", \"{value}\", {code}}}," for value, code in enum["values"].items()]
    out += ["};", "", "uint64_t readBits(const Words &words, unsigned offset, unsigned bits) {",
            "  const unsigned word = offset / 64, shift = offset % 64;", "  uint64_t value = words[word] >> shift;",
            "  if (shift + bits > 64)", "    value |= words[word + 1] << (64 - shift);",
            "  return value & ((uint64_t{1} << bits) - 1);", "}", "",
            "void writeBits(Words &words, unsigned offset, unsigned bits, uint64_t value) {",
            "  const unsigned word = offset / 64, shift = offset % 64;", "  const uint64_t mask = (uint64_t{1} << bits) - 1;",
            "  words[word] = (words[word] & ~(mask << shift)) | ((value & mask) << shift);", "  if (shift + bits > 64) {",
            "    const unsigned low = 64 - shift;",
            "    words[word + 1] = (words[word + 1] & ~(mask >> low)) | ((value & mask) >> low);", "  }", "}", "",
            "bool fits(const FieldInfo &field, int64_t value) {", "  const int64_t one = 1;",
            "  if (field.isSigned)",
            "    return value >= -(one << (field.bits - 1)) && value < (one << (field.bits - 1));",
            "  return value >= 0 && value < (one << field.bits);", "}", ""]
    for inst in table["instructions"]:
        name = camel(inst["name"])
        has = bool(inst["layout"])
        out.append(f"std::optional<Words> encodeOne(const {name} &{'inst' if has else ''}) {{")
        out += ["  Words words{};", f"  words[0] = {inst['opcode']};"]
        if has:
            out.append("  bool ok = true;")
        for index, field in enumerate(inst["layout"]):
            member = lower_camel(field["name"])
            info = f"k{name}Fields[{index}]"
            if field["count"] > 1:
                out.append(f"  for (unsigned i = 0; i < {field['count']}; ++i)")
                out.append(f"    ok &= setField(words, {info}, i, inst.{member}[i]);")
            else:
                out.append(f"  ok &= setField(words, {info}, 0, static_cast<int64_t>(inst.{member}));")
        out += ["  if (!ok)", "    return std::nullopt;"] if has else []
        out += ["  return words;", "}", "", f"Instruction decode{name}(const Words &{'words' if has else ''}) {{", f"  {name} inst;"]
        for index, field in enumerate(inst["layout"]):
            member = lower_camel(field["name"])
            info = f"k{name}Fields[{index}]"
            ctype = camel(field["enum"]) if "enum" in field else ("int32_t" if field["signed"] else "uint32_t")
            if field["count"] > 1:
                out.append(f"  for (unsigned i = 0; i < {field['count']}; ++i)")
                out.append(f"    inst.{member}[i] = static_cast<{ctype}>(getField(words, {info}, i));")
            else:
                out.append(f"  inst.{member} = static_cast<{ctype}>(getField(words, {info}));")
        out += ["  return inst;", "}", ""]
    out += ["} // namespace", "", "std::span<const InstructionInfo> instructions() { return kInstructions; }", "",
            "const InstructionInfo *lookup(unsigned opcode) {", "  for (const InstructionInfo &info : kInstructions)",
            "    if (static_cast<unsigned>(info.opcode) == opcode)", "      return &info;", "  return nullptr;", "}", "",
            "int64_t getField(const Words &words, const FieldInfo &field, unsigned index) {",
            "  const uint64_t raw = readBits(words, field.offset + index * field.bits, field.bits);",
            "  if (field.isSigned && (raw >> (field.bits - 1)) != 0)",
            "    return static_cast<int64_t>(raw) - (int64_t{1} << field.bits);", "  return static_cast<int64_t>(raw);", "}", "",
            "bool setField(Words &words, const FieldInfo &field, unsigned index, int64_t value) {",
            "  if (!fits(field, value))", "    return false;",
            "  writeBits(words, field.offset + index * field.bits, field.bits, static_cast<uint64_t>(value));", "  return true;", "}", "",
            "std::optional<Words> encode(const Instruction &inst) {",
            "  return std::visit([](const auto &one) { return encodeOne(one); }, inst);", "}", "",
            "std::optional<Instruction> decode(const Words &words) {",
            "  const InstructionInfo *info = lookup(words[0] & 15);", "  if (!info)", "    return std::nullopt;",
            "  for (unsigned bit = info->bits; bit < kInstBits; ++bit)", "    if (readBits(words, bit, 1) != 0)", "      return std::nullopt;",
            "  for (const FieldInfo &field : info->fields)",
            "    if (!field.enumName.empty() &&",
            "        enumValueName(field.enumName, static_cast<unsigned>(getField(words, field))).empty())",
            "      return std::nullopt;", "  switch (info->opcode) {"]
    for inst in table["instructions"]:
        name = camel(inst["name"])
        out += [f"  case Opcode::{name}:", f"    return decode{name}(words);"]
    out += ["  }", "  return std::nullopt;", "}", "",
            "std::string_view enumValueName(std::string_view enumName, unsigned value) {",
            "  for (const EnumValue &entry : kEnumValues)", "    if (entry.enumName == enumName && entry.value == value)",
            "      return entry.name;", "  return {};", "}", "",
            "std::optional<unsigned> enumValue(std::string_view enumName, std::string_view name) {",
            "  for (const EnumValue &entry : kEnumValues)", "    if (entry.enumName == enumName && entry.name == name)",
            "      return entry.value;", "  return std::nullopt;", "}", "",
            "std::string disassemble(const Words &words) {", "  const InstructionInfo *info = lookup(words[0] & 15);",
            "  if (!info)", "    return \"invalid\";", "  std::string text{info->name};",
            "  for (const FieldInfo &field : info->fields) {",
            "    const int64_t idle = field.name == \"n\" ? 1 : 0;", "    bool isDefault = true;",
            "    for (unsigned i = 0; i < field.count; ++i)", "      isDefault &= getField(words, field, i) == idle;",
            "    if (isDefault)", "      continue;", "    text += ' ';", "    text += field.name;", "    text += '=';",
            "    if (field.count > 1)", "      text += '[';", "    for (unsigned i = 0; i < field.count; ++i) {",
            "      const int64_t value = getField(words, field, i);", "      if (i)", "        text += ' ';",
            "      const std::string_view name =",
            "          field.enumName.empty() ? std::string_view{} : enumValueName(field.enumName, static_cast<unsigned>(value));",
            "      if (name.empty())", "        text += std::to_string(value);", "      else", "        text += name;", "    }",
            "    if (field.count > 1)", "      text += ']';", "  }", "  return text;", "}", "", "} // namespace sluice::isa"]
    return "\n".join(out) + "\n"


def others(item):
    return f"{item['least']} to {item['most']}" if "least" in item else "-"


def emit_markdown(table):
    bits = table["word_bits"] * table["words"]
    out = ["# Instruction set", "", "This page lists every instruction, field and constant of the accelerator. `machine.md` specifies their effect, cycle by cycle. "
           "`tools/gen_isa.py` generates this page from `hw/isa/isa.json`.", "",
           "Print the instructions of a program with", "", "    sluice inspect FILE --asm", "",
           f"This is version {table['version']}. An instruction has {bits} bits in {table['words']} little-endian 64-bit words. Bits 3:0 of word 0 are the opcode. "
           "The fields follow in the order of the tables; all other bits are zero. A field with several elements stores element 0 in the lowest bits.", "",
           "## Constants", "", "| constant | value | meaning |", "|---|---|---|"]
    out += [f"| `{item['name']}` | {item['value']} | {item['doc']} |" for item in table["constants"]]
    out += ["", "## Latencies", "", "A target may set the latencies that name other values "
            "([stages](targets.md#stages)).", "", "| stage | cycles | other values | what happens |", "|---|---|---|---|"]
    out += [f"| `{item['name']}` | {item['value']} | {others(item)} | {item['doc']} |" for item in table["latencies"]]
    out += ["", "## Enumerations", "", "| enumeration | meaning | values |", "|---|---|---|"]
    for name, enum in table["enums"].items():
        values = ", ".join(f"`{value}` {code}" for value, code in enum["values"].items())
        out += [f"| {name} | {enum['doc']} | {values} |"]
    out += ["", "## Instructions"]
    for inst in table["instructions"]:
        out += ["", f"### {inst['name']} (opcode {inst['opcode']}, {KIND[inst['unit']]})", "", f"{inst['doc'][0].upper() + inst['doc'][1:]}."]
        if inst["layout"]:
            out += ["", "| bits | field | meaning |", "|---|---|---|"]
        for field in inst["layout"]:
            last = field["offset"] + field["bits"] * field["count"] - 1
            shape = f"{field['count']} x {field['bits']}" if field["count"] > 1 else str(field["bits"])
            sign = " signed" if field["signed"] else ""
            kind = f"; enumeration {field['enum']}" if "enum" in field else ""
            out.append(f"| {last}:{field['offset']} ({shape}{sign}) | `{field['name']}` | {field['doc']}{kind} |")
    return "\n".join(out) + "\n"


def emit_tablegen(table):
    out = ["// Generated from hw/isa/isa.json by tools/gen_isa.py: one operation per instruction."]
    for inst in table["instructions"]:
        out += ["", f"def Core_{camel(inst['name'])}Op : Core_Instruction<\"{inst['name']}\"> {{",
                f"  let summary = \"{inst['doc']}\";"]
        args = []
        for field in inst["layout"]:
            idle = "1" if field["name"] == "n" else "0"
            if field["count"] > 1:
                value = ", ".join([idle] * field["count"])
                args.append(f"DefaultValuedOptionalAttr<DenseI64ArrayAttr, \"{{{value}}}\">:${field['name']}")
            else:
                args.append(f"DefaultValuedOptionalAttr<I64Attr, \"{idle}\">:${field['name']}")
        args.append("OptionalAttr<DenseI64ArrayAttr>:$nodes")
        out += ["  let arguments = (ins", "    " + ",\n    ".join(args) + ");", "}"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    emitters = {"sv": emit_sv, "header": emit_header, "source": emit_source, "markdown": emit_markdown,
                "tablegen": emit_tablegen}
    for name in emitters:
        parser.add_argument(f"--{name}")
    args = parser.parse_args()
    table = load(args.table)
    for name, emitter in emitters.items():
        path = getattr(args, name)
        if not path:
            continue
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(emitter(table))


if __name__ == "__main__":
    main()
