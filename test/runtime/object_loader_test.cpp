#include "runtime/object_loader.h"
#include <gtest/gtest.h>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include "heddle/error.h"
#include "test/runtime/elf_builder.h"

namespace heddle::runtime {
namespace {

using Function = int (*)();

const std::string kReturn42("\xb8\x2a\x00\x00\x00\xc3", 6);          // mov eax, 42; ret
const std::string kLoad("\x8b\x05\x00\x00\x00\x00\xc3", 7);          // mov eax, [rip + constant]; ret
const std::string kCall("\xe8\x00\x00\x00\x00\xc3", 6);              // call callee; ret
const std::string kPointer("\x48\xa1\0\0\0\0\0\0\0\0\xc3", 11);      // mov rax, [absolute address]; ret

int call(const LoadedCode& code) { return reinterpret_cast<Function>(code.entry)(); }

std::string error_of(const std::string& object, const std::string& symbol = "f") {
  try {
    load_object(object, symbol);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "loaded";
}

/// Code that loads the second of two constants from .rodata.
ElfBuilder with_constant(uint32_t kind = R_X86_64_PC32) {
  ElfBuilder elf;
  const uint16_t code = elf.add_code(kLoad), data = elf.add_constants(std::string("\7\0\0\0\x2d\1\0\0", 8));
  elf.add_symbol("f", code, 0);
  elf.relocate(code, 2, kind, elf.add_symbol("constants", data, 4), -4);
  return elf;
}

ElfBuilder plain() {
  ElfBuilder elf;
  elf.add_symbol("f", elf.add_code(kReturn42), 0);
  return elf;
}

TEST(ObjectLoader, RunsCode) { EXPECT_EQ(call(load_object(plain().build(), "f")), 42); }

TEST(ObjectLoader, ReadsUnalignedObjects) {
  const std::string shifted = "x" + with_constant().build();
  EXPECT_EQ(call(load_object(std::string_view(shifted).substr(1), "f")), 301);
}

TEST(ObjectLoader, ResolvesConstantsRelativeToCode) { EXPECT_EQ(call(load_object(with_constant().build(), "f")), 301); }

TEST(ObjectLoader, ResolvesCallsBetweenFunctions) {
  ElfBuilder elf;
  const uint16_t code = elf.add_code(kCall + kReturn42);
  elf.add_symbol("f", code, 0);
  elf.relocate(code, 1, R_X86_64_PLT32, elf.add_symbol("g", code, kCall.size()), -4);
  EXPECT_EQ(call(load_object(elf.build(), "f")), 42);
  EXPECT_EQ(call(load_object(elf.build(), "g")), 42);
}

TEST(ObjectLoader, ResolvesAbsoluteAddresses) {
  ElfBuilder elf;
  const uint16_t code = elf.add_code(kPointer), data = elf.add_constants(std::string("\x4d\0\0\0\0\0\0\0", 8));
  elf.add_symbol("f", code, 0);
  elf.relocate(code, 2, R_X86_64_64, elf.add_symbol("constants", data, 0), 0);
  EXPECT_EQ(call(load_object(elf.build(), "f")), 77);
}

TEST(ObjectLoader, ZeroedSectionsAreZero) {
  ElfBuilder elf;
  const uint16_t code = elf.add_code(kLoad), zeros = elf.add_section(".bss", SHT_NOBITS, SHF_ALLOC, std::string(64, 'x'));
  elf.add_symbol("f", code, 0);
  elf.relocate(code, 2, R_X86_64_PC32, elf.add_symbol("zeros", zeros, 0), -4);
  EXPECT_EQ(call(load_object(elf.build(), "f")), 0);
}

TEST(ObjectLoader, CodeOutlivesTheObjectAndGoesWithItsOwner) {
  std::string object = with_constant().build();
  LoadedCode code = load_object(object, "f");
  object.assign(object.size(), '\0');
  EXPECT_EQ(call(code), 301);
  const std::shared_ptr<const void> copy = code.owner;
  code.owner.reset();
  EXPECT_EQ(call(code), 301);
  EXPECT_EQ(copy.use_count(), 1);
}

/// The permissions of the mapping that holds an address, as /proc says: "r-xp".
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t first = 0, last = 0;
    char dash = 0;
    std::string mode;
    std::istringstream(line) >> std::hex >> first >> dash >> last >> mode;
    if (first <= reinterpret_cast<uint64_t>(address) && reinterpret_cast<uint64_t>(address) < last) return mode;
  }
  return "unmapped";
}

TEST(ObjectLoader, PagesAreNeverWritableAndExecutable) {
  const LoadedCode code = load_object(with_constant().build(), "f");
  EXPECT_EQ(permissions(code.entry), "r-xp");
  EXPECT_EQ(permissions(static_cast<const char*>(code.entry) + 4096), "r--p");
}

TEST(ObjectLoader, ImportsAreNamed) {
  ElfBuilder elf;
  const uint16_t code = elf.add_code(kCall);
  elf.add_symbol("f", code, 0);
  elf.relocate(code, 1, R_X86_64_PLT32, elf.add_symbol("expf", SHN_UNDEF, 0), -4);
  EXPECT_EQ(error_of(elf.build()), "kernel object cannot be loaded: it imports 'expf'; kernels import nothing");
}

TEST(ObjectLoader, OtherRelocationsAreNamed) {
  EXPECT_EQ(error_of(with_constant(R_X86_64_GOTPCREL).build()),
            "kernel object cannot be loaded: relocation kind 9 is not supported (PC32, PLT32 and 64 are)");
}

TEST(ObjectLoader, MissingFunctionIsNamed) {
  EXPECT_EQ(error_of(plain().build(), "g"), "kernel object cannot be loaded: it has no function 'g'");
}

TEST(ObjectLoader, WritableDataIsRefused) {
  ElfBuilder elf = plain();
  elf.add_section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, "abc");
  EXPECT_EQ(error_of(elf.build()),
            "kernel object cannot be loaded: section .data is writable; kernels have code and constants only");
}

TEST(ObjectLoader, OddObjectsAreRefused) {
  const auto broken = [](const std::function<void(ElfBuilder&, uint16_t)>& change) {
    ElfBuilder elf;
    const uint16_t code = elf.add_code(kLoad);
    elf.add_symbol("f", code, 0);
    change(elf, code);
    return error_of(elf.build());
  };
  EXPECT_NE(broken([](ElfBuilder& elf, uint16_t code) { elf.relocate(code, 4, R_X86_64_PC32, 1, 0); }).find("leaves its section"), std::string::npos);
  EXPECT_NE(broken([](ElfBuilder& elf, uint16_t code) { elf.relocate(code, 2, R_X86_64_PC32, 99, 0); }).find("does not exist"), std::string::npos);
  EXPECT_NE(broken([](ElfBuilder& elf, uint16_t code) { elf.relocate(code, 2, R_X86_64_PC32, 1, int64_t{1} << 40); }).find("out of reach"), std::string::npos);
  EXPECT_NE(broken([](ElfBuilder& elf, uint16_t code) { elf.relocate(code, 2, R_X86_64_PC32, elf.add_symbol("odd", 77, 0), 0); }).find("names section 77"), std::string::npos);
  EXPECT_NE(broken([](ElfBuilder& elf, uint16_t) { elf.add_section(".odd", SHT_PROGBITS, SHF_ALLOC, "x", 3); }).find("alignment"), std::string::npos);
  EXPECT_NE(error_of("").find("short"), std::string::npos);
  EXPECT_NE(error_of(std::string(200, 'x')).find("not an ELF file"), std::string::npos);
}

TEST(ObjectLoader, EntryMustBeInCode) {
  ElfBuilder elf = plain();
  elf.add_symbol("data", elf.add_constants("1234"), 0);
  elf.add_symbol("past", 1, kReturn42.size());
  EXPECT_EQ(error_of(elf.build(), "data"), "kernel object cannot be loaded: its entry is not in its code");
  EXPECT_EQ(error_of(elf.build(), "past"), "kernel object cannot be loaded: its entry is not in its code");
}

TEST(ObjectLoader, EveryTruncationIsAnError) {
  const std::string object = with_constant().build();
  for (size_t size = 0; size < object.size(); ++size) EXPECT_NE(error_of(object.substr(0, size)), "loaded") << size;
}

/// Flips may leave a loadable object; it must load within its bounds (sanitizers watch) or be a RuntimeError.
TEST(ObjectLoader, FlippedBitsNeverCrash) {
  const std::string object = with_constant().build();
  size_t refused = 0;
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    std::string flipped = object;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    refused += error_of(flipped) != "loaded";
  }
  EXPECT_GT(refused, object.size());
}

TEST(ObjectLoader, RandomBytesNeverCrash) {
  const std::string object = with_constant().build();
  std::mt19937 random(1);
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = object;
    for (int i = 0; i < 4; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    refused += error_of(damaged) != "loaded";
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace heddle::runtime
