#include "src/cli/repl/help.h"

#include <fmt/format.h>

#include <array>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

struct Topic {
  const char *name, *usage, *what, *more;
};

constexpr std::array<Topic, 14> kCommands = {{
    {"mask", "mask NAME = FORMULA", "names a mask: a condition on q, k, h, b, true where the pair takes part",
     "  mask window = k <= q && q - k < w\n"
     "A formula alone defines the mask `it` and shows what it comes to.\n"},
    {"score", "score NAME = FORMULA", "names a score: a real formula over s, the scaled dot product",
     "  score soft = softcap(s, 30)\n"
     "  run window with soft\n"},
    {"let", "let NAME = VALUE", "gives a parameter of formulas its value",
     "  let w = 256            an integer, compiled in\n"
     "  let c = 1.5            a real, for scores\n"
     "  let w = dynamic        given at each launch: one kernel for all values\n"
     "  let w = dynamic 256    the same; facts, run and bench take 256, and another value compiles nothing\n"
     "Formulas are read again at each use, so a new value reaches every mask that names it.\n"},
    {"table", "table NAME = FILE | LIST", "gives a table of formulas its elements; or table NAME[INDEX] = FORMULA",
     "  table doc = documents.npy           .npy, or a file of white-spaced integers; from the folder you are in\n"
     "  table allowed = [[1, 0], [1, 1]]    true and false, integers, or reals for scores; 1 to 4 dimensions\n"
     "  table doc[k] = k / 512              filled by a formula of its indices, as many as are set: sk here\n"
     "  table slope[h] = exp(-0.7 * (h + 1))\n"
     "  mask packed = doc[q] == doc[k] && k <= q\n"
     "  score alibi = s - slope[h] * (q - k)\n"
     "New elements are bound to the kernel that there is; they compile nothing.\n"},
    {"set", "set [NAME VALUE]", "changes a setting: sq, sk, heads, head_dim, ...; alone: lists them",
     "  set sq 65536\n"
     "  set tile 128x64\n"},
    {"show", "show [NAME]", "a mask with its picture, a score, parameter or table; alone: all that is defined",
     "  show window\n"},
    {"facts", "facts MASK", "exact facts: components, tiles as closed loops, counts at the set lengths",
     "  facts window\n"
     "  facts k <= q\n"},
    {"plan", "plan MASK [with SCORE]", "the plan of the kernel: passes, tiles, loop nests, costs",
     "  plan window\n"},
    {"explain", "explain MASK [with SCORE]", "why this plan: what was understood, what is done, what lost",
     "  explain window\n"},
    {"emit", "emit MASK [with SCORE] STAGE", "a stage as text: formula, facts, plan, tile, schedule, source, asm",
     "  emit window asm\n"},
    {"run", "run MASK [with SCORE]", "runs on random input: time, rate, sparsity efficiency, largest error",
     "  set sq 8192\n"
     "  run window\n"
     "The error is against float64, over as many rows as are quick to judge.\n"},
    {"bench", "bench MASK [with SCORE]", "a bar for this mask and for each baseline",
     "  bench window\n"
     "Baselines: the same kernel testing every tile, our kernel without the mask, dense attention in OpenBLAS.\n"},
    {"help", "help [TOPIC]", "this overview, or a command or topic in full", "  help formulas\n"},
    {"quit", "quit", "ends the session, as does Ctrl-D", "  quit\n"},
}};

constexpr std::array<Topic, 3> kSubjects = {{
    {"formulas", "", "what masks and scores may say",
     "Variables: q query, k key, h head, b batch; sizes Sq Sk H Hkv B; in scores s.\n"
     "Parameters (`help let`); tables, read as doc[k] or bias[h, q, k] (`help table`).\n"
     "Operators, tightest first: - !   * / %   + -   < <= > >=   == !=   &&   ||   ?:\n"
     "Integer / and % round down, as in Python. Comparisons do not chain: write a <= b && b < c.\n"
     "Functions: abs min max clamp; in scores also exp log tanh sigmoid sqrt softcap.\n"
     "  k <= q                                   causal\n"
     "  abs(q - k) <= 256 || k < 16              a window and 16 global keys\n"
     "  q / 64 == k / 64                         blocks of 64\n"
     "  k <= q && (q - k) % 32 == 0              every 32nd key\n"
     "  doc[q] == doc[k] && k <= q               packed documents, causal\n"
     "A line that ends inside parentheses or with an operator goes on in the next; an empty line ends it.\n"
     "`#` starts a comment.\n"},
    {"keys", "", "editing, history, completion, Ctrl-C",
     "TAB completes commands, names, settings, stages and functions. Arrow up and down walk through the history,\n"
     "which is kept in $XDG_STATE_HOME/heddle/history, else ~/.local/state/heddle/history. Ctrl-R searches it.\n"
     "Ctrl-C clears the line, or stops what is running. Ctrl-D on an empty line ends the session.\n"},
    {"scripts", "", "statements from a file or a pipe",
     "`heddle repl FILE` runs the statements of a file, `heddle repl` those of a pipe. Nothing but results is printed;\n"
     "the first error ends the script with its line and status 2, an error over the bar of `run` gives status 1.\n"},
}};

std::string overview() {
  std::string text = "Commands (MASK is a name or a formula):\n";
  for (const Topic& topic : kCommands) text += fmt::format("  {:29} {}\n", topic.usage, topic.what);
  text += fmt::format("  {:29} defines the mask `it` and shows what it comes to\n", "FORMULA");
  text += "`help TOPIC` says more; topics beside the commands:\n";
  for (const Topic& topic : kSubjects) text += fmt::format("  {:29} {}\n", topic.name, topic.what);
  return text;
}

template <typename Topics>
const Topic* find(const Topics& topics, std::string_view name) {
  for (const Topic& topic : topics) {
    if (name == topic.name) return &topic;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Topic& topic : kCommands) names.emplace_back(topic.name);
  return names;
}

std::vector<std::string> topics() {
  std::vector<std::string> names = command_names();
  for (const Topic& topic : kSubjects) names.emplace_back(topic.name);
  return names;
}

std::string help(std::string_view name) {
  if (name.empty()) return overview();
  if (const Topic* subject = find(kSubjects, name)) return subject->more;
  if (const Topic* command = find(kCommands, name)) return fmt::format("{}\n  {}\nFor example:\n{}", command->usage, command->what, command->more);
  const std::string near = support::nearest(name, topics());
  throw UserError(fmt::format("no help on {}", support::quote(name)),
                  near.empty() ? "topics: " + support::list(topics()) : fmt::format("did you mean {}?", near));
}

}  // namespace heddle::cli::repl
