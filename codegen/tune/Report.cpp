#include "codegen/tune/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace lintel;

static std::string escaped(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else if (c == '"') result += "&quot;";
    else result += c;
  }
  return result;
}

namespace {

struct Point {
  double x, y;
  const char *colour;
  std::string title;
};

/// Axes and marks of one plot.
class Plot {
public:
  Plot(std::string xName, std::string yName, bool logX, bool logY)
      : xName(std::move(xName)), yName(std::move(yName)), logX(logX), logY(logY) {}

  void include(double x, double y) {
    lowX = std::min(lowX, x), highX = std::max(highX, x), lowY = std::min(lowY, y), highY = std::max(highY, y);
  }
  void add(Point point) {
    if (!usable(point.x, logX) || !usable(point.y, logY)) return;
    include(point.x, point.y);
    points.push_back(std::move(point));
  }
  void addLine(std::vector<std::pair<double, double>> line, const char *colour) {
    llvm::erase_if(line, [&](const auto &p) { return !usable(p.first, logX) || !usable(p.second, logY); });
    for (auto [x, y] : line) include(x, y);
    lines.push_back({std::move(line), colour});
  }

  std::string svg() {
    if (points.empty() && lines.empty()) return "<p>nothing was measured</p>\n";
    for (auto [low, high, isLog] : {std::make_tuple(&lowX, &highX, logX), std::make_tuple(&lowY, &highY, logY)}) {
      if (isLog) *low /= 1.15, *high *= 1.15;
      else if (*high - *low < 1e-12) *low -= 0.5, *high += 0.5;
      else {
        double room = (*high - *low) * 0.05;
        *high += room, *low = *low >= 0 && *low < room ? 0 : *low - room;
      }
    }
    std::string text;
    raw_string_ostream os(text);
    os << formatv("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n", width, height);
    os << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" class=\"frame\"/>\n", left, top,
                  width - left - right, height - top - bottom);
    for (double t : ticks(lowX, highX, logX))
      os << formatv("<line x1=\"{0:f1}\" x2=\"{0:f1}\" y1=\"{1}\" y2=\"{2}\" class=\"grid\"/><text x=\"{0:f1}\" "
                    "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                    placeX(t), top, height - bottom, height - bottom + 16, number(t));
    for (double t : ticks(lowY, highY, logY))
      os << formatv("<line y1=\"{0:f1}\" y2=\"{0:f1}\" x1=\"{1}\" x2=\"{2}\" class=\"grid\"/><text x=\"{3}\" "
                    "y=\"{4:f1}\" text-anchor=\"end\">{5}</text>\n",
                    placeY(t), left, width - right, left - 6, placeY(t) + 4, number(t));
    os << formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>\n", (left + width - right) / 2,
                  height - 6, escaped(xName));
    os << formatv("<text transform=\"translate(14 {0}) rotate(-90)\" text-anchor=\"middle\">{1}</text>\n",
                  (top + height - bottom) / 2, escaped(yName));
    for (const auto &[line, colour] : lines) {
      os << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"2\" points=\"";
      for (auto [x, y] : line) os << formatv("{0:f1},{1:f1} ", placeX(x), placeY(y));
      os << "\"/>\n";
    }
    for (const Point &p : points)
      os << formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"3.5\" fill=\"{2}\"><title>{3}</title></circle>\n",
                    placeX(p.x), placeY(p.y), p.colour, escaped(p.title));
    os << "</svg>\n";
    return text;
  }

private:
  static constexpr int width = 640, height = 340, left = 72, right = 16, top = 12, bottom = 48;

  static bool usable(double v, bool isLog) { return std::isfinite(v) && (!isLog || v > 0); }
  static std::string number(double v) { return formatv("{0}", format("%.3g", v)).str(); }
  static double share(double v, double low, double high, bool isLog) {
    return isLog ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  }
  double placeX(double x) const { return left + share(x, lowX, highX, logX) * (width - left - right); }
  double placeY(double y) const { return height - bottom - share(y, lowY, highY, logY) * (height - top - bottom); }
  static std::vector<double> ticks(double low, double high, bool isLog) {
    std::vector<double> result;
    if (isLog && high / low > 8) {
      for (double t = std::pow(10, std::floor(std::log10(low))); t <= high; t *= 10)
        for (double m : {1.0, 2.0, 5.0})
          if (t * m >= low && t * m <= high) result.push_back(t * m);
      return result;
    }
    double step = std::pow(10, std::floor(std::log10((high - low) / 4)));
    for (double m : {1.0, 2.0, 5.0, 10.0})
      if ((high - low) / (step * m) <= 6) {
        step *= m;
        break;
      }
    for (double t = std::ceil(low / step) * step; t <= high; t += step) result.push_back(t);
    return result;
  }

  std::string xName, yName;
  bool logX, logY;
  double lowX = std::numeric_limits<double>::infinity(), highX = -lowX, lowY = lowX, highY = -lowX;
  std::vector<Point> points;
  std::vector<std::pair<std::vector<std::pair<double, double>>, const char *>> lines;
};

constexpr const char *blue = "#2b6cb0", *red = "#c53030", *grey = "#718096", *green = "#2f855a";

} // namespace

static std::string named(const StoredTrial &t) {
  return formatv("{0}, chunk {1}: {2:f3} ms, {3:f3} of the default's time\n{4}", t.form, t.chunk, t.seconds * 1e3,
                 t.ratio, t.schedule)
      .str();
}

static std::string overTime(const ReportContent &c) {
  Plot plot("seconds of search", "time over the default's", false, false);
  std::vector<std::pair<double, double>> best{{0, 1}};
  std::vector<const StoredTrial *> order;
  for (const StoredTrial &t : c.trials)
    if (t.outcome == "ok") order.push_back(&t);
  llvm::sort(order, [](auto *a, auto *b) { return std::make_pair(a->at, a) < std::make_pair(b->at, b); });
  for (const StoredTrial *t : order) {
    // Far slower ones would press all others into one line.
    plot.add({t->at, std::min(t->ratio, 2.0), t->ratio > 2 ? red : grey, named(*t)});
    best.push_back({t->at, best.back().second});
    best.push_back({t->at, std::min(best.back().second, t->ratio)});
  }
  plot.addLine(best, blue);
  return plot.svg();
}

static std::string predicted(const ReportContent &c) {
  Plot plot("predicted time over the default's", "measured time over the default's", true, true);
  double low = 1, high = 1;
  for (const StoredTrial &t : c.trials) {
    if (t.outcome != "ok" || t.ratio <= 0 || c.standardPredicted <= 0) continue;
    double guess = t.predicted / c.standardPredicted;
    plot.add({guess, t.ratio, grey, named(t)});
    low = std::min({low, guess, t.ratio}), high = std::max({high, guess, t.ratio});
  }
  plot.addLine({{low, low}, {high, high}}, blue);
  return plot.svg();
}

static std::string roofline(const ReportContent &c) {
  if (c.flops <= 0) return "<p>not counted: no state is a matrix that a product reads</p>\n";
  if (c.bytes <= 0 || c.limit <= 0 || c.bandwidth <= 0 || c.best.seconds <= 0) return "<p>nothing was measured</p>\n";
  Plot plot("flops for each byte of inputs and output", "gflops", true, true);
  double intensity = c.flops / c.bytes, ridge = c.limit / c.bandwidth;
  double low = std::min(intensity, ridge) / 4, high = std::max(intensity, ridge) * 4;
  plot.addLine({{low, low * c.bandwidth}, {ridge, c.limit}, {high, c.limit}}, blue);
  auto mark = [&](double seconds, const char *colour, const char *what) {
    double rate = c.flops / seconds * 1e-9;
    plot.add({intensity, rate, colour, formatv("{0}: {1:f1} gflops", what, rate).str()});
  };
  if (c.best.standardSeconds > 0) mark(c.best.standardSeconds, red, "the default");
  mark(c.best.seconds, green, "the best");
  return plot.svg();
}

/// Lines of two .sched files side by side, by stage.
static std::string besides(const ReportContent &c) {
  StringMap<std::string> standard;
  SmallVector<StringRef> lines;
  auto split = [](StringRef line) {
    auto [name, directives] = line.split(':');
    return std::make_pair(name.trim(), directives.trim());
  };
  StringRef(c.standardSchedule).split(lines, '\n', -1, false);
  std::vector<StringRef> names;
  for (StringRef line : lines) {
    auto [name, directives] = split(line);
    if (standard.try_emplace(name, directives.str()).second) names.push_back(name);
  }
  StringMap<std::string> best;
  lines.clear();
  StringRef(c.best.schedule).split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    auto [name, directives] = split(line);
    if (best.try_emplace(name, directives.str()).second && !standard.count(name)) names.push_back(name);
  }
  std::string text = "<table><tr><th>stage</th><th>default</th><th>best</th></tr>\n";
  text += formatv("<tr><td><i>form, chunk</i></td><td>{0} {1}</td><td>{2} {3}</td></tr>\n", escaped(c.standardForm),
                  c.standardChunk, escaped(c.best.form), c.best.chunk);
  for (StringRef name : names) {
    std::string a = standard.lookup(name), b = best.lookup(name);
    text +=
        formatv("<tr{0}><td>{1}</td><td>{2}</td><td>{3}</td></tr>\n", a == b ? "" : " class=\"other\"", escaped(name),
                a.empty() ? "(no such stage)" : escaped(a), b.empty() ? "(no such stage)" : escaped(b));
  }
  return text + "</table>\n";
}

static std::string failures(const ReportContent &c) {
  std::string rows;
  for (const StoredTrial &t : c.trials)
    if (t.outcome != "ok")
      rows += formatv("<tr><td>{0}</td><td>{1} {2}</td><td>{3}</td><td><pre>{4}</pre></td></tr>\n", escaped(t.outcome),
                      escaped(t.form), t.chunk, escaped(t.reason), escaped(t.schedule));
  if (rows.empty()) return "";
  return "<h2>Refused or wrong</h2>\n<table><tr><th>outcome</th><th>form</th><th>reason</th><th>schedule</th></tr>\n" +
         rows + "</table>\n";
}

std::string lintel::reportText(const ReportContent &c) {
  std::string text;
  raw_string_ostream os(text);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>lintel tune: " << escaped(c.key.name)
     << "</title>\n<style>\nbody{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
        "color:#1a202c}\nsvg text{font:12px system-ui,sans-serif;fill:#4a5568}\n.frame{fill:none;stroke:#a0aec0}\n"
        ".grid{stroke:#e2e8f0}\ntable{border-collapse:collapse}\ntd,th{padding:.2em .7em;border-bottom:1px solid "
        "#e2e8f0;text-align:left;vertical-align:top}\n.other{background:#fefcbf}\npre{margin:0}\n</style></"
        "head><body>\n";
  os << formatv("<h1>{0} {1}</h1>\n<p>{2}; B={3} T={4} H={5}; threads {6}; {7}; {8}; strategy {9}.</p>\n",
                escaped(c.key.name), escaped(c.key.types), escaped(c.key.dims), c.key.batch, c.key.steps, c.key.heads,
                c.key.threads, escaped(c.key.machine), escaped(c.key.compiler), escaped(c.strategy));
  size_t good = llvm::count_if(c.trials, [](const StoredTrial &t) { return t.outcome == "ok"; });
  os << formatv(
      "<p><b>{0:f3} times the default's speed</b> ({1:f3} ms against {2:f3} ms, median ratio of {3} interleaved "
      "rounds). {4} candidates were measured, each after its result was checked; {5} were refused or "
      "wrong.</p>\n",
      c.best.ratio > 0 ? 1 / c.best.ratio : 1, c.best.seconds * 1e3, c.best.standardSeconds * 1e3, c.best.rounds, good,
      c.trials.size() - good);
  os << "<h2>Best so far</h2>\n<p>Each dot is a candidate (red: beyond the edge), the line the fastest until "
        "then.</p>\n"
     << overTime(c);
  os << "<h2>Predicted against measured</h2>\n<p>The cost model's guess; on the line it would be right.</p>\n"
     << predicted(c);
  os << formatv("<h2>Roofline</h2>\n<p>Flops by the operator's mathematics, the same for all forms, against {0:f1} "
                "gflops and, of one core, "
                "{1:f1} "
                "GB/s, both measured. Red: the default, green: the best.</p>\n",
                c.limit, c.bandwidth)
     << roofline(c);
  os << "<h2>The schedules</h2>\n" << besides(c) << failures(c) << "</body></html>\n";
  return text;
}
