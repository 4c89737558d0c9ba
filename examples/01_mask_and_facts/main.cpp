// Lesson 1: a mask and its facts.
//
// A mask says which (query, key) pairs take part, as a formula. Heddle derives exact facts from it, for all lengths at once,
// and plans from the facts. Steps:
//   (1) write a mask with C++ operators,
//   (2) write the same mask as text and see that both are one formula,
//   (3) compile it and read what was found: the facts, and the plan that was made of them,
//   (4) make a mistake, and read the message.
#include <cstdio>

#include "heddle/engine.h"
#include "heddle/error.h"
#include "heddle/formula.h"

int main() {
  // (1) Longformer: every query sees 64 neighbours on either side; the first 16 positions see, and are seen by, everyone.
  const heddle::Mask built =
      heddle::mask([](heddle::Index q, heddle::Index k) { return abs(q - k) <= 64 || k < 16 || q < 16; });

  // (2) The same as text, with named parameters. Constants are inlined, so the two formulas are equal.
  const heddle::Mask parsed =
      heddle::Mask::parse("abs(q - k) <= w || k < g || q < g", {{"w", int64_t{64}}, {"g", int64_t{16}}});
  std::printf("formula: %s\n", parsed.text().c_str());
  if (built.text() != parsed.text()) return 1;

  // (3) Compiling for head dim 64 analyses the mask; lengths are not part of it: the facts hold for all of them.
  heddle::Engine engine;
  const heddle::Attention attention = engine.attention({.mask = parsed, .head_dim = 64});
  std::printf("\n%s\n%s\n", attention.report().facts.c_str(), attention.report().plan.c_str());
  if (attention.report().facts.empty() || attention.report().plan.empty()) return 1;

  // (4) A name that nothing defines: the message shows where it stands.
  try {
    heddle::Mask::parse("abs(q - k) <= width");
  } catch (const heddle::UserError& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
