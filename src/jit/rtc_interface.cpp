#include "src/jit/rtc_interface.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "heddle/error.h"

namespace heddle::jit {

RtcInterface::RtcInterface(const VendorLibrary& library, std::string product, const std::string& prefix) : product_(std::move(product)) {
  const auto find = [&](auto& function, const char* name) {
    function = library.function<std::remove_reference_t<decltype(function)>>((prefix + name).c_str());
  };
  find(error_text_, "GetErrorString");
  find(version_, "Version");
  find(create_, "CreateProgram");
  find(destroy_, "DestroyProgram");
  find(compile_, "CompileProgram");
  find(log_size_, "GetProgramLogSize");
  find(log_, "GetProgramLog");
}

void RtcInterface::check(Result result, const char* what) const {
  if (result != 0) throw ToolchainError(fmt::format("{}: {}: {}", product_, what, error_text_(result)));
}

std::string RtcInterface::version_number() const {
  int major = 0, minor = 0;
  check(version_(&major, &minor), "version");
  return fmt::format("{}.{}", major, minor);
}

RtcCompilation::RtcCompilation(const RtcInterface& interface, const DeviceSource& source) : interface_(interface), source_(source) {
  interface_.check(interface_.create_(&program_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr), "create program");
}

std::string RtcCompilation::run(const GpuTarget& target, const std::vector<std::string>& options) {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const RtcInterface::Result result = interface_.compile_(program_, static_cast<int>(texts.size()), texts.data());
  std::string log = text(interface_.log_size_, interface_.log_, "read log");
  if (result == 0) return log;
  throw ToolchainError(fmt::format("{} refuses the source for {} ({}): {}", interface_.product_, target.to_string(),
                                   interface_.error_text_(result), first_error(source_, log)),
                       log);
}

std::string RtcCompilation::blob(RtcInterface::SizeOf size, RtcInterface::Read read, const char* what) const {
  size_t bytes = 0;
  interface_.check(size(program_, &bytes), what);
  std::string blob(bytes, '\0');
  if (bytes > 0) interface_.check(read(program_, blob.data()), what);
  return blob;
}

std::string RtcCompilation::text(RtcInterface::SizeOf size, RtcInterface::Read read, const char* what) const {
  std::string text = blob(size, read, what);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace heddle::jit
