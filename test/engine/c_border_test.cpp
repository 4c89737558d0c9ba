// The C border: statuses and messages of every kind of mistake, and structs of other sizes; nothing here compiles a kernel.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <string>

#include "heddle/c.h"
#include "heddle/error.h"
#include "src/engine/c_tensor.h"
#include "src/engine/c_terms.h"
#include "test/process.h"

namespace heddle::engine {
namespace {

struct Destroy {
  void operator()(heddle_engine* engine) const { heddle_engine_destroy(engine); }
};
using EngineHandle = std::unique_ptr<heddle_engine, Destroy>;

EngineHandle make_engine() {
  heddle_engine_options options{};
  options.size = sizeof options;
  options.threads = 1;
  options.no_disk_cache = 1;
  heddle_engine* engine = nullptr;
  EXPECT_EQ(heddle_engine_create(&options, &engine), HEDDLE_OK) << heddle_last_error();
  return EngineHandle(engine);
}

heddle_spec spec_of(const char* mask) {
  heddle_spec spec{};
  spec.size = sizeof spec;
  spec.mask = mask;
  spec.head_dim = 64;
  return spec;
}

/// First line of the message of a spec that must be refused; the handle must end up null.
std::string refusal(const heddle_spec& spec) {
  const EngineHandle engine = make_engine();
  auto* attention = reinterpret_cast<heddle_attention*>(engine.get());
  EXPECT_EQ(heddle_attention_create(engine.get(), &spec, &attention), HEDDLE_USER_ERROR);
  EXPECT_EQ(attention, nullptr);
  const std::string message = heddle_last_error();
  return message.substr(0, message.find('\n'));
}

/// Every `Struct::field` in a message of the engine is translated, but for those of features that the border does not have.
TEST(CBorder, HasAWordForEveryFieldThatMessagesName) {
  const std::set<std::string> not_in_c = {"LaunchOptions::probabilities", "AttentionSpec::probabilities", "AcsrSizes::ints", "AcsrLayout::width",
                                          "Engine::attention"};
  int found = 0;
  for (const char* folder : {"/src/engine", "/src/ir", "/src/plan", "/src/support", "/runtime"}) {
    for (const auto& file : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR + std::string(folder))) {
      if (file.path().extension() != ".cpp" || file.path().filename() == "c_terms.cpp") continue;
      const std::string text = test::read_file(file.path());
      const std::regex literal(R"re("(?:[^"\\\n]|\\.)*")re"), name(R"([A-Z]\w+::[a-z]\w*(\(\)| = \w+)?)");
      for (std::sregex_iterator quoted(text.begin(), text.end(), literal), end; quoted != end; ++quoted) {
        const std::string inside = quoted->str();
        for (std::sregex_iterator field(inside.begin(), inside.end(), name); field != end; ++field) {
          const std::string plain = std::regex_replace(field->str(), std::regex(R"(\(\)| = \w+)"), "");
          if (not_in_c.contains(plain)) continue;
          EXPECT_EQ(in_c_terms(field->str()).find("::"), std::string::npos) << file.path() << ": " << field->str();
          ++found;
        }
      }
    }
  }
  EXPECT_GE(found, 5);
}

TEST(CBorder, TranslatesEveryMention) {
  EXPECT_EQ(in_c_terms("LaunchOptions::ints and LaunchOptions::ints"),
            "heddle_launch_options.values, of kind HEDDLE_INT and heddle_launch_options.values, of kind HEDDLE_INT");
  EXPECT_EQ(in_c_terms("k <= q"), "k <= q");
}

TEST(CBorder, TellsItsVersion) {
  EXPECT_STREQ(heddle_version(), HEDDLE_VERSION);
  EXPECT_EQ(std::to_string(HEDDLE_VERSION_MAJOR) + "." + std::to_string(HEDDLE_VERSION_MINOR) + "." +
                std::to_string(HEDDLE_VERSION_PATCH),
            heddle_version());
}

TEST(CBorder, NamesStatuses) {
  EXPECT_STREQ(heddle_status_name(HEDDLE_OK), "ok");
  EXPECT_STREQ(heddle_status_name(HEDDLE_TOOLCHAIN_ERROR), "toolchain error");
  EXPECT_STREQ(heddle_status_name(static_cast<heddle_status>(7)), "unknown status");
}

TEST(CBorder, RefusesNullPointers) {
  const EngineHandle engine = make_engine();
  heddle_attention* attention = nullptr;
  const heddle_spec spec = spec_of("k <= q");
  EXPECT_EQ(heddle_engine_create(nullptr, nullptr), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "engine is a null pointer");
  EXPECT_EQ(heddle_attention_create(nullptr, &spec, &attention), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "engine is a null pointer");
  EXPECT_EQ(heddle_attention_create(engine.get(), nullptr, &attention), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "spec is a null pointer");
  EXPECT_EQ(heddle_attention_create(engine.get(), &spec, nullptr), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "attention is a null pointer");
  EXPECT_EQ(heddle_attention_run(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "attention is a null pointer");
  EXPECT_EQ(heddle_attention_report(nullptr, nullptr), HEDDLE_USER_ERROR);
  EXPECT_EQ(heddle_attention_bind(nullptr, nullptr, nullptr), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "binding is a null pointer");
  EXPECT_EQ(heddle_engine_compilations(nullptr), 0);
  heddle_engine_destroy(nullptr);
  heddle_attention_destroy(nullptr);
  heddle_binding_destroy(nullptr);
}

TEST(CBorder, ASuccessClearsTheMessage) {
  EXPECT_EQ(heddle_engine_create(nullptr, nullptr), HEDDLE_USER_ERROR);
  EXPECT_STRNE(heddle_last_error(), "");
  make_engine();
  EXPECT_STREQ(heddle_last_error(), "");
}

TEST(CBorder, RefusesWrongSpecs) {
  EXPECT_EQ(refusal(spec_of("k <= q + width")), "unknown name 'width'");
  heddle_spec spec = spec_of("k <= q");
  spec.head_dim = 1000;
  EXPECT_NE(refusal(spec).find("1000"), std::string::npos);
  spec = spec_of("k <= q");
  spec.parameter_count = 2;
  EXPECT_EQ(refusal(spec), "parameters is a null pointer, but there should be 2 of them");
}

TEST(CBorder, RefusesWrongParameters) {
  heddle_parameter parameters[2] = {{"w", HEDDLE_INT, 3, 0, {}}, {"w", HEDDLE_INT, 4, 0, {}}};
  heddle_spec spec = spec_of("q - k < w");
  spec.parameters = parameters;
  spec.parameter_count = 2;
  EXPECT_EQ(refusal(spec), "the parameter 'w' is given twice");
  spec.parameter_count = 1;
  parameters[0].kind = static_cast<heddle_parameter_kind>(9);
  EXPECT_EQ(refusal(spec), "the parameter 'w' has kind 9; expected a heddle_parameter_kind");
  parameters[0] = {"w", HEDDLE_TABLE, 0, 0, {kDLInt, 32, 2}};
  EXPECT_EQ(refusal(spec), "w has elements of 2 lanes; expected 1");
  parameters[0].name = nullptr;
  EXPECT_EQ(refusal(spec), "the name of a parameter is a null pointer");
}

TEST(CBorder, RefusesWrongEngineOptions) {
  heddle_engine_options options{};
  heddle_engine* engine = nullptr;
  EXPECT_EQ(heddle_engine_create(&options, &engine), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "engine_options.size is 0; set it to sizeof(heddle_engine_options)");
  options.size = sizeof options;
  options.target = "gpu:none";
  EXPECT_EQ(heddle_engine_create(&options, &engine), HEDDLE_USER_ERROR);
  EXPECT_NE(std::string(heddle_last_error()).find("gpu:none"), std::string::npos);
  options.target = nullptr;
  options.threads = -1;
  EXPECT_EQ(heddle_engine_create(&options, &engine), HEDDLE_USER_ERROR);
  options.threads = 1;
  options.cache_bytes = -5;
  EXPECT_EQ(heddle_engine_create(&options, &engine), HEDDLE_USER_ERROR);
  EXPECT_EQ(engine, nullptr);
}

/// Options of a header from the future: one more field.
struct LaterOptions {
  heddle_engine_options known;
  int64_t later;
};

TEST(CBorder, TakesStructsOfOtherSizes) {
  LaterOptions options{};
  options.known.size = sizeof options;
  options.known.no_disk_cache = 1;
  heddle_engine* engine = nullptr;
  EXPECT_EQ(heddle_engine_create(&options.known, &engine), HEDDLE_OK) << heddle_last_error();
  heddle_engine_destroy(engine);
  options.later = 1;
  EXPECT_EQ(heddle_engine_create(&options.known, &engine), HEDDLE_USER_ERROR);
  EXPECT_NE(std::string(heddle_last_error()).find("does not know"), std::string::npos);

  options.known.size = offsetof(heddle_engine_options, no_disk_cache);
  options.known.threads = 1;
  options.known.target = "never read";
  EXPECT_EQ(heddle_engine_create(&options.known, &engine), HEDDLE_OK) << heddle_last_error();
  heddle_engine_destroy(engine);
}

int64_t shape[] = {2, 3, 4};
int64_t strides[] = {12, -4, 1};
float elements[64];

DLTensor tensor() { return {elements, {kDLCPU, 0}, 3, {kDLFloat, 32, 1}, shape, nullptr, 0}; }

TEST(CBorder, ReadsTensors) {
  DLTensor from = tensor();
  Tensor view = view_of(&from, "q");
  EXPECT_EQ(view.data, elements);
  EXPECT_EQ(view.dtype, DType::Float32);
  EXPECT_EQ(view.shape, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(view.strides, (std::vector<int64_t>{12, 4, 1}));
  from.strides = strides;
  from.byte_offset = 32;
  view = view_of(&from, "q");
  EXPECT_EQ(view.data, elements + 8);
  EXPECT_EQ(view.strides, (std::vector<int64_t>{12, -4, 1}));
}

TEST(CBorder, ReadsElementTypes) {
  const auto read = [](uint8_t code, uint8_t bits) { return dtype_of({code, bits, 1}, "t"); };
  EXPECT_EQ(read(kDLFloat, 64), DType::Float64);
  EXPECT_EQ(read(kDLBfloat, 16), DType::BFloat16);
  EXPECT_EQ(read(kDLInt, 32), DType::Int32);
  EXPECT_EQ(read(kDLInt, 64), DType::Int64);
  EXPECT_EQ(read(kDLUInt, 8), DType::UInt8);
  EXPECT_EQ(read(6, 8), DType::Bool);
  EXPECT_THROW(read(kDLComplex, 64), UserError);
  EXPECT_THROW(read(kDLInt, 8), UserError);
}

std::string tensor_error(const DLTensor* from) {
  try {
    view_of(from, "k");
  } catch (const UserError& error) {
    return error.message();
  }
  return "none";
}

TEST(CBorder, RefusesWrongTensors) {
  EXPECT_EQ(tensor_error(nullptr), "k is a null pointer; expected a DLTensor");
  DLTensor from = tensor();
  from.device.device_type = kDLCUDA;
  EXPECT_EQ(tensor_error(&from), "k is on DLPack device type 2; expected the CPU (1)");
  from = tensor();
  from.dtype.lanes = 4;
  EXPECT_EQ(tensor_error(&from), "k has elements of 4 lanes; expected 1");
  from = tensor();
  from.ndim = -1;
  EXPECT_EQ(tensor_error(&from), "k has -1 dimensions; expected 0 to 64");
  from = tensor();
  from.shape = nullptr;
  EXPECT_EQ(tensor_error(&from), "k has 3 dimensions but no shape");
}

}  // namespace
}  // namespace heddle::engine
