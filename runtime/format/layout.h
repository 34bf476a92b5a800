// Byte layout of a program file: the constants that writer and reader share.
// docs/program-format.md describes it in prose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::format {

/// First bytes of every program file. The first one is not ASCII and the last
/// one is a line feed, so a transfer that mangles text is noticed at once.
inline constexpr std::array<uint8_t, 8> kMagic{0x9D, 'S', 'l', 'u', 'i', 'c', 'e', '\n'};

/// Version of the layout. A reader accepts exactly its own.
inline constexpr uint32_t kFormatVersion = 10;

/// Header: magic, format version, instruction set version, file size, section
/// count, zero, SHA-256 over header (with this field zero) and section table.
inline constexpr size_t kHeaderBytes = 64;
inline constexpr size_t kVersionOffset = 8;
inline constexpr size_t kIsaVersionOffset = 12;
inline constexpr size_t kFileSizeOffset = 16;
inline constexpr size_t kSectionCountOffset = 24;
inline constexpr size_t kHeaderHashOffset = 32;

/// Section table entry: kind, zero, offset, size, zero, SHA-256 of the section.
inline constexpr size_t kEntryBytes = 64;
inline constexpr size_t kEntryOffset = 8;
inline constexpr size_t kEntrySize = 16;
inline constexpr size_t kEntryHash = 32;

/// A tensor's step axis, where it has none.
inline constexpr uint32_t kNoAxis = 0xFFFFFFFF;

/// Sections start at multiples of this; the bytes between them are zero.
inline constexpr size_t kSectionAlignment = 64;

/// The sections, each present once and in this order.
enum class Section : uint32_t {
  Geometry = 1,
  Models = 2,
  Instructions = 3,
  Weights = 4,
  Rows = 5,
  Preloads = 6,
  Tables = 7,
  SourceMap = 8,
  Info = 9,
  State = 10,
  ComputedRows = 11,
};
inline constexpr size_t kSectionCount = 11;
inline constexpr std::array<std::string_view, kSectionCount> kSectionNames{
    "geometry", "models",     "instructions", "weights", "rows",         "preloads",
    "tables",   "source map", "information",  "state",   "computed rows"};

} // namespace sluice::format
