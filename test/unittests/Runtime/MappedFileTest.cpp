// Weight files that somebody changes while they are mapped.
#include "lib/Runtime/MappedFile.h"
#include "lib/Runtime/Error.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace convbert::rt;

namespace {

class MappedFileTest : public testing::Test {
protected:
  MappedFileTest() {
    char name[] = "/tmp/convbert-mapped-XXXXXX";
    int fd = mkstemp(name);
    path = name;
    std::string content(3 * 4096, 'x');
    EXPECT_EQ(write(fd, content.data(), content.size()), ssize_t(content.size()));
    close(fd);
  }
  ~MappedFileTest() override { unlink(path.c_str()); }

  static std::string failure(const MappedFile &file) {
    try {
      file.checkUnchanged();
    } catch (const Failure &error) {
      return error.what();
    }
    return "";
  }

  std::string path;
};

TEST_F(MappedFileTest, ReadsZerosWhereTheFileWasCut) {
  {
    MappedFile file(path);
    EXPECT_EQ(failure(file), "");
    ASSERT_EQ(truncate(path.c_str(), 4096), 0);
    EXPECT_EQ(file.data()[0], 'x');
    EXPECT_EQ(file.data()[2 * 4096], 0); // without a guard, the end of the process
    EXPECT_EQ(failure(file), "weight file " + path + " was changed while it was read; load the checkpoint again");
  }
  // The handler is gone with the last guard.
  struct sigaction action;
  ASSERT_EQ(sigaction(SIGBUS, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST_F(MappedFileTest, NoticesOtherNumbers) {
  MappedFile file(path);
  struct timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_NE(failure(file), "");
  EXPECT_EQ(MappedFile(path).stamp().modified, 1000000000);
}

TEST_F(MappedFileTest, SurvivesReplacement) {
  MappedFile file(path);
  std::string other = path + ".new";
  std::ofstream(other) << "short";
  ASSERT_EQ(rename(other.c_str(), path.c_str()), 0);
  EXPECT_EQ(file.data()[2 * 4096], 'x');
  EXPECT_EQ(failure(file), "");
}

int calls;
void countCall(int) {
  ++calls;
  std::signal(SIGBUS, SIG_DFL);
}

TEST_F(MappedFileTest, LeavesOtherBusErrorsAlone) {
  struct sigaction mine = {}, before;
  mine.sa_handler = countCall;
  sigaction(SIGBUS, &mine, &before);
  calls = 0;
  {
    MappedFile file(path);
    raise(SIGBUS); // no address of the file
    EXPECT_EQ(calls, 1);
  }
  sigaction(SIGBUS, &before, nullptr);
}

TEST(MappedFile, RequiresARegularFile) {
  EXPECT_THROW(MappedFile("/dev/null"), Failure);
  EXPECT_THROW(MappedFile("/nonexistent"), Failure);
}

} // namespace
