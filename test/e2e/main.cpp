// The tests, and the processes that some of them start: test_e2e --child CACHE MASK FOLDER.
#include <gtest/gtest.h>

#include <string>

#include "test/e2e/child.h"

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--child") return heddle::test::child_main(argv[2], argv[3], argv[4]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
