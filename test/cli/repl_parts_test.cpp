// The parts of the REPL, each on its own: statements, definitions, settings, completion, jobs, bars.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "heddle/error.h"
#include "src/cli/repl/completion.h"
#include "src/cli/repl/help.h"
#include "src/cli/repl/job.h"
#include "src/cli/repl/jobs.h"
#include "src/cli/repl/line_reader.h"
#include "src/cli/repl/session.h"
#include "src/cli/repl/statement.h"
#include "test/process.h"

namespace heddle::cli::repl {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

template <typename F>
std::string message_of(F&& work) {
  try {
    work();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReplStatement, StripsCommentsAndSpaces) {
  EXPECT_EQ(stripped("  k <= q  # causal"), "k <= q");
  EXPECT_EQ(stripped("# only a comment"), "");
  EXPECT_EQ(stripped(" \t\r"), "");
}

TEST(ReplStatement, GoesOnInsideParenthesesAndAfterOperators) {
  for (const char* text : {"(k <= q", "mask a =", "k <= q &&", "min(q,", "k <= q ? true :", "t[q", "q -"}) EXPECT_TRUE(unfinished(text)) << text;
  for (const char* text : {"", "k <= q", "(k <= q)", "set tile 64x64", "k <= q)"}) EXPECT_FALSE(unfinished(text)) << text;
}

TEST(ReplStatement, IsTakenApart) {
  EXPECT_EQ(split_first(" facts  a b "), Pair("facts", "a b"));
  EXPECT_EQ(split_first("quit"), Pair("quit", ""));
  EXPECT_EQ(split_last("k <= q asm"), Pair("k <= q", "asm"));
  EXPECT_EQ(split_last("asm"), Pair("", "asm"));
  EXPECT_EQ(split_equals("w = 3"), Pair("w", "3"));
  EXPECT_EQ(split_equals("a=q == k"), Pair("a", "q == k"));
  EXPECT_EQ(split_equals("q == k"), std::nullopt);
  EXPECT_EQ(split_equals("w 3"), std::nullopt);
}

TEST(ReplSession, FormulasFollowTheirParameters) {
  Session session;
  session.let("w", parse_parameter("w", "3"));
  session.define_mask("window", "q - k < w");
  EXPECT_EQ(session.mask("window", true).text(), "q - k < 3");
  session.let("w", parse_parameter("w", "dynamic 5"));
  EXPECT_EQ(session.mask("window", false).text(), "q - k < w");
  EXPECT_EQ(session.mask("window", true).text(), "q - k < 5");
  session.let("w", parse_parameter("w", "dynamic"));
  EXPECT_EQ(message_of([&] { session.mask("window", true); }),
            "the dynamic parameter 'w' has no value\nhint: give it one: let w = dynamic 256");
}

TEST(ReplSession, TextThatIsNoNameIsAFormula) {
  const Session session;
  EXPECT_EQ(session.mask("k <= q", true).text(), "k <= q");
  EXPECT_EQ(session.mask("true", true).text(), "true");
  EXPECT_EQ(session.score("s * 2.0", true).text(), "s * 2.0");
}

TEST(ReplSession, NamesMeanOneThing) {
  Session session;
  session.define_mask("a", "k <= q");
  session.define_mask("a", "k < q");
  EXPECT_EQ(session.mask("a", true).text(), "k < q");
  EXPECT_EQ(message_of([&] { session.define_score("a", "s"); }), "'a' is a mask already\nhint: choose another name");
  EXPECT_EQ(message_of([&] { session.let("a", parse_parameter("a", "1")); }), "'a' is a mask already\nhint: choose another name");
  EXPECT_EQ(message_of([&] { session.define_mask("q", "k <= q"); }), "'q' is an index variable\nhint: choose another name");
  EXPECT_EQ(message_of([&] { session.define_mask("1st", "k <= q"); }),
            "'1st' is no name for a mask\nhint: use letters, digits and '_', a letter first");
}

TEST(ReplSession, AWrongFormulaChangesNothing) {
  Session session;
  session.define_mask("a", "k <= q");
  EXPECT_NE(message_of([&] { session.define_mask("a", "k <="); }), "no error");
  EXPECT_EQ(session.mask("a", true).text(), "k <= q");
}

TEST(ReplSession, TablesComeFromListsFilesAndFormulas) {
  Session session;
  const test::Folder folder;
  test::write_file(folder / "doc.txt", "0 0 1\n1 2");
  session.define_table("doc", folder / "doc.txt");
  session.define_table("allowed", "[[true, false], [true, true]]");
  session.define_table("wide", "[5000000000, -1]");
  session.define_table("bias", "[[0.5, 1], [2, -3e2]]");
  EXPECT_EQ(summary(session.elements("doc")), "int32 [5]: 0, 0, 1, 1, 2");
  EXPECT_EQ(summary(session.elements("allowed")), "bool [2, 2]: 1, 0, 1, 1");
  EXPECT_EQ(summary(session.elements("wide")), "int64 [2]: 5000000000, -1");
  EXPECT_EQ(summary(session.elements("bias")), "float32 [2, 2]: 0.5, 1, 2, -300");
  EXPECT_EQ(session.mask("doc[q] == doc[k] && allowed[0, 1]==1", true).text(), "doc[q] == doc[k] && allowed[0, 1] == 1");
  EXPECT_EQ(session.tables().at("bias").statement(), "table bias = [[0.5, 1], [2, -3e2]]");
}

TEST(ReplSession, FilledTablesFollowSettingsAndParameters) {
  Session session;
  session.settings.sq = 3, session.settings.sk = 5, session.settings.heads = 2;
  session.let("n", parse_parameter("n", "2"));
  session.define_table("doc[k]", "k / n");
  session.define_table("bias[h, q]", "-0.5 * (h + 1) * q");
  session.define_table("last[q]", "Sk - 1");
  EXPECT_EQ(summary(session.elements("doc")), "int32 [5]: 0, 0, 1, 1, 2");
  EXPECT_EQ(summary(session.elements("bias")), "float32 [2, 3]: -0, -0.5, -1, -0, -1, -2");
  EXPECT_EQ(summary(session.elements("last")), "int32 [3]: 4, 4, 4");
  session.let("n", parse_parameter("n", "dynamic 4"));
  session.settings.sk = 20;
  EXPECT_EQ(summary(session.elements("doc")), "int32 [20]: 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, ...");
  EXPECT_EQ(session.tables().at("bias").statement(), "table bias[h, q] = -0.5 * (h + 1) * q");
  session.settings.sk = 1 << 30;
  EXPECT_EQ(message_of([&] { session.elements("doc"); }),
            "table doc: 1073741824 elements; a formula fills at most 16777216\nhint: set smaller lengths, or use a file");
}

TEST(ReplSession, ValuesAreThoseThatTheFormulasName) {
  Session session;
  session.settings.sq = 4;
  session.let("w", parse_parameter("w", "dynamic 3"));
  session.let("c", parse_parameter("c", "dynamic-real 1.5"));
  session.let("unused", parse_parameter("unused", "dynamic"));
  session.let("n", parse_parameter("n", "2"));
  session.define_table("doc[k]", "k / n");
  session.define_table("other[k]", "k");
  const Values values = session.values({session.mask("q - k < w && doc[q] == doc[k] && k != n", false).node(), session.score("s * c", false).node()});
  EXPECT_EQ(values.ints, (std::map<std::string, int64_t>{{"w", 3}}));
  EXPECT_EQ(values.reals, (std::map<std::string, double>{{"c", 1.5}}));
  ASSERT_EQ(values.tables.size(), 1u);
  EXPECT_EQ(summary(values.tables.at("doc")), "int32 [4]: 0, 0, 1, 1");
  EXPECT_EQ(message_of([&] { session.values({session.mask("k < unused", false).node()}); }),
            "the dynamic parameter 'unused' has no value\nhint: give it one: let unused = dynamic 256");
}

TEST(ReplSession, WrongTablesChangeNothing) {
  Session session;
  session.define_table("doc", "[1, 2]");
  const std::vector<std::tuple<const char*, const char*, const char*>> mistakes = {
      {"doc", "[1, 2", "table doc: the list is no list of numbers\nhint: expected for example [0, 0, 1], or [[1, 2], [3, 4]]"},
      {"doc", "[1, [2]]", "table doc: the list mixes numbers and lists\nhint: expected the same depth everywhere"},
      {"doc", "[[1], 2]", "table doc: the list mixes numbers and lists\nhint: expected the same depth everywhere"},
      {"doc", "[[1, 2], [3]]", "table doc: the list has rows of 2 and of 1 elements\nhint: expected rows of the same length"},
      {"doc", "[1, true]", "table doc: the list mixes numbers with true and false\nhint: write 1 and 0"},
      {"doc", "[1, \"a\"]", "table doc: the list has the element \"a\"\nhint: expected 64-bit integers, reals, or true and false"},
      {"doc", "[[[[[1]]]]]", "table doc: the list nests deeper than 4 levels\nhint: tables have 1 to 4 dimensions"},
      {"doc", "[9223372036854775808]",
       "table doc: the list has the element 9223372036854775808\nhint: expected 64-bit integers, reals, or true and false"},
      {"doc", "nowhere.npy", "cannot read 'nowhere.npy': No such file or directory"},
      {"q", "[1]", "'q' is an index variable\nhint: choose another name"},
      {"doc[x]", "3", "table doc[x]: expected different indices out of b, h, q, k\nhint: their sizes are the set ones: table doc[k] = k / 512 has sk elements"},
      {"doc[k, k]", "3",
       "table doc[k, k]: expected different indices out of b, h, q, k\nhint: their sizes are the set ones: table doc[k] = k / 512 has sk elements"},
      {"doc[k]", "q", "table doc: the formula reads 'q', which is no index of the table\nhint: its indices are k"},
      {"doc[k]", "k <", "expected a value, found the end of the formula\ntable doc:1:4\n  k <\n     ^"}};
  for (const auto& [left, right, message] : mistakes) EXPECT_EQ(message_of([&] { session.define_table(left, right); }), message) << left << right;
  EXPECT_EQ(summary(session.elements("doc")), "int32 [2]: 1, 2");
  EXPECT_EQ(message_of([&] { session.let("doc", parse_parameter("doc", "1")); }), "'doc' is a table already\nhint: choose another name");
}

TEST(ReplSession, ParametersPrintAsTheyAreWritten) {
  for (const char* text : {"256", "-3", "1.5", "dynamic", "dynamic 256", "dynamic-real 0.5", "dynamic-real"}) {
    EXPECT_EQ(to_string(parse_parameter("w", text)), text);
  }
  for (const char* text : {"", "x", "9223372036854775808", "inf", "dynamic x", "1 2"}) {
    EXPECT_NE(message_of([&] { parse_parameter("w", text); }), "no error") << text;
  }
}

TEST(ReplSettings, AreCheckedAndListed) {
  Settings settings;
  EXPECT_EQ(settings.keys(), 4096);
  change(settings, "sq", "100");
  change(settings, "tile", "32x16");
  change(settings, "kv_heads", "2");
  EXPECT_EQ(settings.keys(), 100);
  EXPECT_EQ(settings.key_heads(), 2);
  EXPECT_EQ(settings.tile_keys, 16);
  for (const std::string& name : setting_names()) EXPECT_NE(list(settings).find("  " + name + " "), std::string::npos) << name;
  EXPECT_EQ(message_of([&] { change(settings, "heads", "0"); }), "set heads '0': expected an integer from 1 to 65536");
  EXPECT_EQ(message_of([&] { change(settings, "head_dims", "3"); }), "unknown setting 'head_dims'\nhint: did you mean head_dim?");
}

TEST(ReplSettings, ShapesThatCannotRunAreRefused) {
  Settings settings;
  EXPECT_EQ(message_of([&] { check_shape(settings); }), "no error");
  settings.kv_heads = 3;
  EXPECT_EQ(message_of([&] { check_shape(settings); }),
            "8 query heads cannot share 3 key heads\nhint: set heads to a multiple of kv_heads");
  settings.kv_heads = 0;
  settings.sq = int64_t{1} << 30;
  EXPECT_NE(message_of([&] { check_shape(settings); }).find("GiB"), std::string::npos);
}

struct Tab {
  const char* line;
  std::vector<std::string> words;
};

TEST(ReplCompletion, OffersWhatMayStandThere) {
  Session session;
  session.let("width", parse_parameter("width", "3"));
  session.define_mask("window", "q - k < width");
  session.define_score("soft", "softcap(s, 30)");
  session.define_table("wide", "[1, 2]");
  const std::vector<Tab> tabs = {{"fa", {"facts"}},
                                 {"facts wi", {"wide", "width", "window"}},
                                 {"run window w", {"wide", "width", "with"}},
                                 {"run window with s", {"soft"}},
                                 {"emit window as", {"asm"}},
                                 {"set head", {"head_dim", "heads"}},
                                 {"help form", {"formulas"}},
                                 {"show so", {"soft"}},
                                 {"mask a = k <= q && q - k < wi", {"wide", "width"}},
                                 {"tab", {"table"}},
                                 {"show wid", {"wide", "width"}},
                                 {"table t[k] = k / wid", {"wide", "width"}},
                                 {"let w = dyn", {"dynamic", "dynamic-real"}},
                                 {"mask w", {}},
                                 {"zzz", {}}};
  for (const Tab& tab : tabs) EXPECT_EQ(complete(session, tab.line).words, tab.words) << tab.line;
  EXPECT_EQ(complete(session, "facts wi").typed, 2u);
  const std::vector<std::pair<const char*, char>> ends = {{"mask a = sof", '('}, {"mask a = k < wide", '['}, {"show wide", ' '}, {"facts win", ' '}, {"mask a = k < widt", ' '}};
  for (const auto& [line, next] : ends) EXPECT_EQ(complete(session, line).next, next) << line;
  EXPECT_EQ(common_prefix({"head_dim", "heads"}), "head");
  EXPECT_EQ(common_prefix({}), "");
}

TEST(ReplHelp, ExistsForEveryCommandAndTopic) {
  for (const std::string& topic : topics()) EXPECT_GT(help(topic).size(), 40u) << topic;
  for (const std::string& command : command_names()) EXPECT_NE(help("").find("\n  " + command), std::string::npos) << command;
  EXPECT_EQ(message_of([] { help("formulsa"); }), "no help on 'formulsa'\nhint: did you mean formulas?");
}

TEST(ReplBars, AreInProportionToTheSlowest) {
  EXPECT_EQ(bars({{"one", 1}, {"four", 4}, {"none", 0}}),
            "  one                ##########                               1.000 ms, 1.0x\n"
            "  four               ######################################## 4.000 ms, 4.0x\n"
            "  none               #                                        0.000 ms, 0.0x\n");
}

TEST(ReplJob, GivesOutputAndStatusBack) {
  const std::string large(3 << 20, 'x');
  const JobResult result = run_job("job", [&] { return JobResult{kCheckFailed, large, false}; }, {});
  EXPECT_EQ(result.status, kCheckFailed);
  EXPECT_TRUE(result.text == large);
  EXPECT_FALSE(result.cancelled);
}

TEST(ReplJob, ErrorsAndCrashesStayInTheJob) {
  const JobResult wrong = run_job("job", []() -> JobResult { throw UserError("too wide", "make it narrow"); }, {});
  EXPECT_EQ(wrong.status, kUserError);
  EXPECT_EQ(wrong.text, "too wide\nhint: make it narrow");
  const JobResult killed = run_job("job", []() -> JobResult { raise(SIGKILL); return {}; }, {});
  EXPECT_EQ(killed.status, kUserError);
  EXPECT_NE(killed.text.find("memory"), std::string::npos);
  const JobResult crashed = run_job("job", []() -> JobResult { std::signal(SIGABRT, SIG_DFL); raise(SIGABRT); return {}; }, {});
  EXPECT_EQ(crashed.status, kInternalError);
  EXPECT_NE(crashed.text.find("signal 6"), std::string::npos) << crashed.text;
}

TEST(ReplLines, ComeWithNumbersAndABound) {
  const test::Folder folder;
  test::write_file(folder / "lines", "one\n\ntwo");
  const int file = open((folder / "lines").c_str(), O_RDONLY);
  LineReader lines(file);
  EXPECT_EQ(lines.next(), "one");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), "two");
  EXPECT_EQ(lines.number(), 3u);
  EXPECT_EQ(lines.next(), std::nullopt);
  close(file);
  test::write_file(folder / "long", std::string(kMaxStatementBytes + 1, 'a'));
  const int large = open((folder / "long").c_str(), O_RDONLY);
  EXPECT_EQ(message_of([&] { LineReader(large).next(); }),
            "the line has more than 66560 bytes\nhint: state the pattern with /, %, min and max");
  close(large);
}

}  // namespace
}  // namespace heddle::cli::repl
