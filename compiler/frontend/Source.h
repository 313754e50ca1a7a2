// The text of one file, with the map from byte offsets to lines and columns.
#ifndef LINTEL_FRONTEND_SOURCE_H
#define LINTEL_FRONTEND_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace lintel::frontend {

/// A half-open range of byte offsets.
struct Span {
  uint32_t begin = 0, end = 0;
};

/// From the first byte of `a` to the last of `b`.
inline Span join(Span a, Span b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

/// Both count from 1; the column counts characters (UTF-8 code points), not bytes.
struct Place {
  unsigned line = 1, column = 1;
};

class Source {
public:
  Source(std::string text, std::string name) : contents(std::move(text)), fileName(std::move(name)) {
    lineStarts.push_back(0);
    for (uint32_t i = 0; i < contents.size(); ++i) {
      if (contents[i] == '\n') lineStarts.push_back(i + 1);
      if (isContinuation(contents[i])) continuations.push_back(i);
    }
  }
  Source(const Source &) = delete; // tokens and syntax trees point into the text

  llvm::StringRef text() const { return contents; }
  llvm::StringRef text(Span span) const { return text().slice(span.begin, span.end); }
  llvm::StringRef name() const { return fileName; }

  Place place(uint32_t offset) const {
    offset = std::min<uint32_t>(offset, contents.size());
    auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
    uint32_t start = *std::prev(next);
    auto hidden = std::lower_bound(continuations.begin(), continuations.end(), offset) -
                  std::lower_bound(continuations.begin(), continuations.end(), start);
    return {unsigned(next - lineStarts.begin()), unsigned(offset - start + 1 - hidden)};
  }

  /// The line's bytes without its end; `number` counts from 1.
  llvm::StringRef line(unsigned number) const {
    uint32_t start = lineStarts[number - 1];
    return text().substr(start).split('\n').first.rtrim('\r');
  }
  uint32_t lineStart(unsigned number) const { return lineStarts[number - 1]; }

  static bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

private:
  std::string contents, fileName;
  std::vector<uint32_t> lineStarts;
  std::vector<uint32_t> continuations; // bytes that do not start a character
};

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_SOURCE_H
