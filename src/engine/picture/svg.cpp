#include "src/engine/picture/svg.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "src/support/text.h"

namespace heddle::engine {
namespace {

std::string xml(std::string_view text) {
  std::string result;
  for (const char c : support::escape(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string_view name_of(Label::Anchor anchor) {
  return anchor == Label::Anchor::Start ? "start" : anchor == Label::Anchor::Middle ? "middle" : "end";
}

}  // namespace

std::string svg(const Scene& scene) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
                 scene.width, scene.height);
  fmt::format_to(out, "<title>{}</title>\n<desc>{}</desc>\n", xml(scene.title), xml(scene.description));
  fmt::format_to(out, "<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n<g shape-rendering=\"crispEdges\">\n", scene.width, scene.height);
  for (const Layer& layer : scene.layers) {
    fmt::format_to(out, "<path fill=\"#{:06x}\" d=\"", layer.colour);
    for (const Box& box : layer.boxes) fmt::format_to(out, "M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width);
    text += "\"/>\n";
  }
  fmt::format_to(out, "</g>\n<g font-family=\"monospace\" font-size=\"{}\" fill=\"#{:06x}\">\n", kTextHeight + 2, kInk);
  for (const Label& label : scene.labels) {
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", label.x, label.y + kTextHeight - 1, name_of(label.anchor),
                   xml(label.text));
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace heddle::engine
