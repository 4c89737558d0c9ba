// ex2 lg2 rcp sqrt rsqrt sin cos tanh copysign: approximations are computed exactly rounded or nearly so; .ftz flushes
// denormals.
#include <cmath>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

struct Exp2 {
  static float apply(float x) { return std::exp2(x); }
};
struct Log2 {
  static float apply(float x) { return std::log2(x); }
};
struct Reciprocal {
  template <typename T>
  static T apply(T x) {
    return T{1} / x;
  }
};
struct SquareRoot {
  template <typename T>
  static T apply(T x) {
    return std::sqrt(x);
  }
};
struct ReciprocalRoot {
  template <typename T>
  static T apply(T x) {
    return T{1} / std::sqrt(x);
  }
};
struct Sine {
  static float apply(float x) { return std::sin(x); }
};
struct Cosine {
  static float apply(float x) { return std::cos(x); }
};
struct Tanh {
  static float apply(float x) { return std::tanh(x); }
};
/// copysign d, a, b: the sign of a on the value of b.
struct CopySign {
  template <typename T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

template <typename Operation>
struct Flushed {
  static float apply(float x) { return flush(Operation::apply(flush(x))); }
};

template <typename Operation>
Execute pick(const Statement& s) {
  return s.has("ftz") ? unary<float, Flushed<Operation>> : unary<float, Operation>;
}

Execute pick_single(const Statement& s) {
  const std::string& root = s.opcode[0];
  if (root == "ex2") return pick<Exp2>(s);
  if (root == "lg2") return pick<Log2>(s);
  if (root == "rcp") return pick<Reciprocal>(s);
  if (root == "sqrt") return pick<SquareRoot>(s);
  if (root == "rsqrt") return pick<ReciprocalRoot>(s);
  if (root == "sin") return pick<Sine>(s);
  if (root == "cos") return pick<Cosine>(s);
  if (root == "tanh") return pick<Tanh>(s);
  return root == "copysign" ? binary<float, CopySign> : nullptr;
}

Execute pick_double(const Statement& s) {
  const std::string& root = s.opcode[0];
  if (root == "rcp") return unary<double, Reciprocal>;
  if (root == "sqrt") return unary<double, SquareRoot>;
  if (root == "rsqrt") return unary<double, ReciprocalRoot>;
  return root == "copysign" ? binary<double, CopySign> : nullptr;
}

}  // namespace

bool decode_math(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::vector<Type> types = Decoder::types(s);
  if (types.size() != 1) return false;
  in.execute = types[0] == Type::F32 ? pick_single(s) : types[0] == Type::F64 ? pick_double(s) : nullptr;
  if (!in.execute) return false;
  const int bytes = bytes_of(types[0]);
  Decoder::expect_operands(s, s.opcode[0] == "copysign" ? 3 : 2);
  in.slots[0] = decoder.destination(s, s.operands[0], bytes);
  for (size_t i = 1; i < s.operands.size(); ++i) in.slots[i] = decoder.source(s, s.operands[i], bytes);
  return true;
}

}  // namespace heddle::emulator
