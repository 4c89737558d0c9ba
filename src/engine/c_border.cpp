#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "heddle/c.h"
#include "heddle/engine.h"
#include "src/engine/c_tensor.h"
#include "src/engine/c_terms.h"

struct heddle_engine {
  heddle::Engine engine;
};
struct heddle_attention {
  heddle::Attention attention;
};
struct heddle_binding {
  heddle::Binding binding;
};

namespace heddle::engine {
namespace {

#define HEDDLE_TEXT(x) HEDDLE_TEXT_OF(x)
#define HEDDLE_TEXT_OF(x) #x
constexpr const char* kVersion =
    HEDDLE_TEXT(HEDDLE_VERSION_MAJOR) "." HEDDLE_TEXT(HEDDLE_VERSION_MINOR) "." HEDDLE_TEXT(HEDDLE_VERSION_PATCH);

/// Message of a thread's last call. Where memory for it is lacking, a fixed text stands in.
class LastError {
 public:
  void clear() noexcept { set(""); }
  const char* text() const noexcept { return fixed_ ? fixed_ : text_.c_str(); }
  void set(const char* message) noexcept try {
    fixed_ = nullptr;
    text_ = message;
  } catch (const std::bad_alloc&) {
    fixed_ = "out of memory, even for the message of an error";
  }

 private:
  std::string text_;
  const char* fixed_ = nullptr;
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

heddle_status fail(heddle_status status, const char* message) noexcept {
  last_error().set(message);
  return status;
}

heddle_status fail_user(const char* message) noexcept try {
  return fail(HEDDLE_USER_ERROR, in_c_terms(message).c_str());
} catch (const std::bad_alloc&) {
  return fail(HEDDLE_USER_ERROR, message);
}

/// Runs the body of a call: no exception leaves it.
template <typename F>
heddle_status guarded(F&& body) noexcept try {
  body();
  last_error().clear();
  return HEDDLE_OK;
} catch (const UserError& error) {
  return fail_user(error.what());
} catch (const ToolchainError& error) {
  return fail(HEDDLE_TOOLCHAIN_ERROR, error.what());
} catch (const RuntimeError& error) {
  return fail(HEDDLE_RUNTIME_ERROR, error.what());
} catch (const std::bad_alloc&) {
  return fail(HEDDLE_RUNTIME_ERROR, "out of memory");
} catch (const std::exception& error) {
  return fail(HEDDLE_INTERNAL_ERROR, error.what());
} catch (...) {
  return fail(HEDDLE_INTERNAL_ERROR, "an exception of unknown type");
}

template <typename T>
T& given(T* pointer, const char* name) {
  if (!pointer) throw UserError(fmt::format("{} is a null pointer", name));
  return *pointer;
}

void check_struct_size(size_t size, const char* name) {
  if (size < sizeof(size_t)) throw UserError(fmt::format("{}.size is {}; set it to sizeof(heddle_{})", name, size, name));
}

/// The caller's struct as this library knows it: fields beyond its size are zero.
template <typename T>
T known(const T& from, const char* name) {
  check_struct_size(from.size, name);
  T made = {};
  std::memcpy(&made, &from, std::min(from.size, sizeof(T)));
  const char* bytes = reinterpret_cast<const char*>(&from);
  if (from.size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + from.size, [](char byte) { return byte != 0; })) {
    throw UserError(
        fmt::format("{} sets fields that this library does not know: it is Heddle {}, older than the header", name, kVersion));
  }
  return made;
}

/// The same of options that may be left out.
template <typename T>
T known_or_default(const T* from, const char* name) {
  return from ? known(*from, name) : T{};
}

/// An array of the caller; null only where it is empty.
template <typename T>
std::span<const T> list(const T* first, size_t count, const char* name) {
  if (count > 0 && !first) throw UserError(fmt::format("{} is a null pointer, but there should be {} of them", name, count));
  return {first, count};
}

EngineOptions engine_options(const heddle_engine_options& from) {
  EngineOptions options;
  options.threads = from.threads;
  options.disk_cache = from.no_disk_cache == 0;
  if (from.cache_dir) options.cache_dir = from.cache_dir;
  if (from.cache_bytes < 0)
    throw UserError(fmt::format("cache_bytes is {}; expected 0 (the default) or more", from.cache_bytes));
  if (from.cache_bytes > 0) options.cache_bytes = from.cache_bytes;
  if (from.target) options.target = Target::parse(from.target);
  return options;
}

ParameterValue parameter_value(const heddle_parameter& from) {
  switch (from.kind) {
    case HEDDLE_INT:
      return from.integer;
    case HEDDLE_REAL:
      return from.real;
    case HEDDLE_DYNAMIC_INT:
      return Dynamic{false};
    case HEDDLE_DYNAMIC_REAL:
      return Dynamic{true};
    case HEDDLE_TABLE:
      return TableOf{dtype_of(from.element, from.name)};
  }
  throw UserError(
      fmt::format("the parameter '{}' has kind {}; expected a heddle_parameter_kind", from.name, static_cast<int>(from.kind)));
}

AttentionSpec attention_spec(const heddle_spec& from) {
  Parameters parameters;
  for (const heddle_parameter& one : list(from.parameters, from.parameter_count, "parameters")) {
    given(one.name, "the name of a parameter");
    if (!parameters.emplace(one.name, parameter_value(one)).second)
      throw UserError(fmt::format("the parameter '{}' is given twice", one.name));
  }
  AttentionSpec spec;
  if (from.mask) spec.mask = Mask::parse(from.mask, parameters);
  if (from.score) spec.score = Score::parse(from.score, parameters);
  spec.head_dim = from.head_dim;
  spec.value_dim = from.value_dim;
  spec.lse = from.lse != 0;
  if (from.dtype.bits != 0) spec.dtype = dtype_of(from.dtype, "dtype");
  return spec;
}

/// Sorts values into the integers and reals of bind or launch options.
void read_values(std::span<const heddle_value> values, std::map<std::string, int64_t>& ints,
                 std::map<std::string, double>* reals) {
  for (const heddle_value& one : values) {
    given(one.name, "the name of a value");
    const bool integer = one.kind == HEDDLE_INT;
    if (!integer && !(reals && one.kind == HEDDLE_REAL)) {
      throw UserError(fmt::format("the value '{}' has kind {}; expected HEDDLE_INT{}", one.name, static_cast<int>(one.kind),
                                  reals ? " or HEDDLE_REAL" : ""));
    }
    const bool is_new = integer ? ints.emplace(one.name, one.integer).second : reals->emplace(one.name, one.real).second;
    if (!is_new) throw UserError(fmt::format("the value '{}' is given twice", one.name));
  }
}

void read_tables(std::span<const heddle_table> from, std::map<std::string, Tensor>& tables) {
  for (const heddle_table& one : from) {
    given(one.name, "the name of a table");
    if (!tables.emplace(one.name, view_of(one.tensor, one.name)).second)
      throw UserError(fmt::format("the table '{}' is given twice", one.name));
  }
}

BindOptions bind_options(const heddle_bind_options& from) {
  BindOptions options;
  read_tables(list(from.tables, from.table_count, "tables"), options.tables);
  read_values(list(from.values, from.value_count, "values"), options.ints, nullptr);
  const auto size = [](int64_t value) { return value == 0 ? 1 : value; };
  options.batch = size(from.batch), options.heads = size(from.heads), options.kv_heads = size(from.kv_heads);
  options.sq = from.sq, options.sk = from.sk;
  return options;
}

LaunchOptions launch_options(const heddle_launch_options& from) {
  LaunchOptions options;
  if (from.scale) options.scale = *from.scale;
  read_values(list(from.values, from.value_count, "values"), options.ints, &options.reals);
  read_tables(list(from.tables, from.table_count, "tables"), options.tables);
  if (from.binding && !options.tables.empty()) throw UserError("tables and a binding are given; a launch takes one of them");
  if (from.binding) options.binding = &from.binding->binding;
  return options;
}

const char* origin_text(KernelReport::Origin origin) {
  switch (origin) {
    case KernelReport::Origin::Compiled:
      return "compiled";
    case KernelReport::Origin::Disk:
      return "disk";
    case KernelReport::Origin::Memory:
      return "memory";
  }
  return "";
}

void fill_report(const KernelReport& from, heddle_report& report) {
  check_struct_size(report.size, "report");
  const heddle_report made{
      report.size,        origin_text(from.origin), from.milliseconds,  from.key.c_str(), from.path.c_str(),
      from.facts.c_str(), from.plan.c_str(),        from.scratch_bytes, from.block_rows,  from.tile_keys};
  std::memcpy(&report, &made, std::min(report.size, sizeof made));
}

/// Sets a result handle, which is null until `make` has made it.
template <typename T, typename Make>
void hand_out(T** result, const char* name, Make&& make) {
  given(result, name) = nullptr;
  *result = std::make_unique<T>(make()).release();
}

}  // namespace
}  // namespace heddle::engine

namespace border = heddle::engine;

const char* heddle_status_name(heddle_status status) {
  switch (status) {
    case HEDDLE_OK:
      return "ok";
    case HEDDLE_USER_ERROR:
      return "user error";
    case HEDDLE_TOOLCHAIN_ERROR:
      return "toolchain error";
    case HEDDLE_RUNTIME_ERROR:
      return "runtime error";
    case HEDDLE_INTERNAL_ERROR:
      return "internal error";
  }
  return "unknown status";
}

const char* heddle_last_error(void) { return border::last_error().text(); }

const char* heddle_version(void) { return border::kVersion; }

heddle_status heddle_engine_create(const heddle_engine_options* options, heddle_engine** engine) {
  return border::guarded([&] {
    border::hand_out(engine, "engine", [&] {
      return heddle_engine{heddle::Engine(border::engine_options(border::known_or_default(options, "engine_options")))};
    });
  });
}

void heddle_engine_destroy(heddle_engine* engine) { delete engine; }

int64_t heddle_engine_compilations(const heddle_engine* engine) { return engine ? engine->engine.compilations() : 0; }

heddle_status heddle_attention_create(heddle_engine* engine, const heddle_spec* spec, heddle_attention** attention) {
  return border::guarded([&] {
    border::hand_out(attention, "attention", [&] {
      const heddle_spec known = border::known(border::given(spec, "spec"), "spec");
      return heddle_attention{border::given(engine, "engine").engine.attention(border::attention_spec(known))};
    });
  });
}

void heddle_attention_destroy(heddle_attention* attention) { delete attention; }

heddle_status heddle_attention_report(const heddle_attention* attention, heddle_report* report) {
  return border::guarded(
      [&] { border::fill_report(border::given(attention, "attention").attention.report(), border::given(report, "report")); });
}

heddle_status heddle_attention_bind(const heddle_attention* attention, const heddle_bind_options* options,
                                    heddle_binding** binding) {
  return border::guarded([&] {
    border::hand_out(binding, "binding", [&] {
      const heddle_bind_options known = border::known(border::given(options, "bind_options"), "bind_options");
      return heddle_binding{border::given(attention, "attention").attention.bind(border::bind_options(known))};
    });
  });
}

void heddle_binding_destroy(heddle_binding* binding) { delete binding; }

heddle_status heddle_attention_run(const heddle_attention* attention, const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                   const DLTensor* o, const DLTensor* lse, const heddle_launch_options* options) {
  return border::guarded([&] {
    const heddle::Attention& kernel = border::given(attention, "attention").attention;
    const heddle::LaunchOptions launch = border::launch_options(border::known_or_default(options, "launch_options"));
    const heddle::Tensor lse_view = lse ? border::view_of(lse, "lse") : heddle::Tensor();
    kernel.run(border::view_of(q, "q"), border::view_of(k, "k"), border::view_of(v, "v"), border::view_of(o, "o"),
               lse ? &lse_view : nullptr, launch);
  });
}
