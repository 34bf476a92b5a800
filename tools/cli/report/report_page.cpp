#include "tools/cli/report/report_page.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "runtime/format/sha256.h"

namespace sluice::cli {

/// The files of this folder and d3 (generated): name without extension, and text.
const std::vector<std::pair<std::string_view, std::string_view>> &reportParts();

namespace {

std::string partOf(std::string_view name) {
  for (const auto &[part, text] : reportParts())
    if (part == name)
      return std::string(text);
  return "";
}

/// 'sha256-...', as a content security policy names an inline script or style.
std::string sourceHash(std::string_view text) {
  const format::Sha256 hash =
      format::sha256({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  constexpr size_t kBase64 = 4 * ((std::tuple_size_v<format::Sha256> + 2) / 3);
  std::string encoded(kBase64 + 1, '\0'); // OpenSSL adds a zero
  EVP_EncodeBlock(reinterpret_cast<unsigned char *>(encoded.data()), hash.data(),
                  static_cast<int>(hash.size()));
  encoded.resize(kBase64);
  return fmt::format("'sha256-{}'", encoded);
}

/// JSON that cannot end the element it stands in, whatever its strings say.
std::string embedded(const Json &report) {
  std::string text;
  for (const char c : report.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c"; // only strings have it
    else
      text += c;
  return text;
}

/// Replaces every {{NAME}} of the template; it does not search the inserted text.
std::string filled(std::string_view page, const std::map<std::string_view, std::string> &values) {
  std::string text;
  for (size_t open = page.find("{{"); open != std::string_view::npos; open = page.find("{{")) {
    const size_t close = page.find("}}", open);
    text += page.substr(0, open);
    text += values.at(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
  return text += page;
}

} // namespace

std::string reportPage(const Json &report) {
  const std::string style = partOf("style"), library = partOf("d3.min"),
                    script = partOf("tables") + partOf("timeline") + partOf("sections");
  const std::string policy = fmt::format(
      "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {} {}",
      sourceHash(style), sourceHash(library), sourceHash(script));
  return filled(partOf("page"), {{"policy", policy},
                                 {"style", style},
                                 {"library", library},
                                 {"script", script},
                                 {"data", embedded(report)}});
}

} // namespace sluice::cli
