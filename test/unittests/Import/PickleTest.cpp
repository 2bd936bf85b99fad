//===- PickleTest.cpp - Pickles of every kind, and hostile ones -----------===//

#include "lib/Import/Pickle.h"
#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir::convbert;
using namespace mlir::convbert::test;
using llvm::StringRef;

namespace {

/// A string with its zeros.
template <size_t N> StringRef bytes(const char (&text)[N]) { return StringRef(text, N - 1); }

/// What one pickle describes, as text; the values go away with the unpickler.
llvm::Expected<std::string> load(StringRef pickle) {
  static const StringRef allowed[] = {"collections.OrderedDict", "torch.f"};
  Unpickler unpickler(pickle, "a.pkl", allowed);
  llvm::Expected<const PickleValue *> value = unpickler.load();
  if (!value)
    return value.takeError();
  std::string text = (*value)->describe();
  for (const PickleValue *item : (*value)->items)
    text += "; " + item->describe();
  return text;
}

TEST(Pickle, ReadsNumbersAndStrings) {
  EXPECT_EQ(llvm::cantFail(load("N.")), "None");
  EXPECT_EQ(llvm::cantFail(load("\x80\x02\x88.")), "True");
  EXPECT_EQ(llvm::cantFail(load("I01\n.")), "True");
  EXPECT_EQ(llvm::cantFail(load("I-12\n.")), "the number -12");
  EXPECT_EQ(llvm::cantFail(load("L12L\n.")), "the number 12");
  EXPECT_EQ(llvm::cantFail(load(bytes("J\xfe\xff\xff\xff."))), "the number -2");
  EXPECT_EQ(llvm::cantFail(load("K\xff.")), "the number 255");
  EXPECT_EQ(llvm::cantFail(load(bytes("M\x00\x01."))), "the number 256");
  EXPECT_EQ(llvm::cantFail(load(bytes("\x8a\x02\x00\xff."))), "the number -256");
  EXPECT_EQ(llvm::cantFail(load(bytes("\x8a\x00."))), "the number 0");
  EXPECT_EQ(llvm::cantFail(load(bytes("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."))),
            "a number of more than 64 bits");
  EXPECT_EQ(llvm::cantFail(load(bytes("G\x00\x00\x00\x00\x00\x00\x00\x00."))), "a floating-point number");
  for (StringRef text :
       {bytes("X\x02\x00\x00\x00ok."), bytes("U\x02ok."), bytes("\x8c\x02ok."), bytes("C\x02ok."), bytes("S'ok'\n."),
        bytes("Vok\n."), bytes("T\x02\x00\x00\x00ok."), bytes("\x8d\x02\x00\x00\x00\x00\x00\x00\x00ok.")})
    EXPECT_EQ(llvm::cantFail(load(text)), "the string 'ok'");
}

TEST(Pickle, ReadsContainersAndMemos) {
  EXPECT_EQ(llvm::cantFail(load(").")), "a tuple of 0");
  EXPECT_EQ(llvm::cantFail(load("(K\x01K\x02t.")), "a tuple of 2; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load("K\x01K\x02\x86.")), "a tuple of 2; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load("](K\x01K\x02"
                                "e.")),
            "a list of 2; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load("(lK\x01"
                                "a.")),
            "a list of 1; the number 1");
  EXPECT_EQ(llvm::cantFail(load("}K\x01K\x02s.")), "a dict of 1; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load("(K\x01K\x02"
                                "d.")),
            "a dict of 1; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load(bytes("K\x07q\x00K\x08h\x00\x86."))), "a tuple of 2; the number 8; the number 7");
  EXPECT_EQ(llvm::cantFail(load(bytes("K\x07p3\ng3\n\x86."))), "a tuple of 2; the number 7; the number 7");
  EXPECT_EQ(llvm::cantFail(load(bytes("K\x07\x94h\x00\x86."))), "a tuple of 2; the number 7; the number 7");
  EXPECT_EQ(llvm::cantFail(load("K\x07(K\x01"
                                "1K\x02"
                                "02\x86.")),
            "a tuple of 2; the number 7; the number 7");
}

TEST(Pickle, DescribesCalls) {
  EXPECT_EQ(llvm::cantFail(load("ctorch\nf\n(K\x01tR.")), "a call of torch.f; torch.f; a tuple of 1");
  EXPECT_EQ(llvm::cantFail(load("\x8c\x05torch\x8c\x01"
                                "f\x93)R.")),
            "a call of torch.f; torch.f; a tuple of 0");
  EXPECT_EQ(llvm::cantFail(load("ccollections\nOrderedDict\n)RK\x01K\x02s}b.")),
            "a dict of 1; the number 1; the number 2");
  EXPECT_EQ(llvm::cantFail(load("K\x01Q.")), "a storage; the number 1");
}

TEST(Pickle, MayReferToItself) {
  // A list that holds itself, and nesting that a recursive reader would not survive.
  EXPECT_EQ(llvm::cantFail(load(bytes("]q\x00h\x00"
                                      "a."))),
            "a list of 1; a list of 1");
  std::string deep(100000, ']');
  deep += std::string(99999, 'a') + ".";
  EXPECT_EQ(llvm::cantFail(load(deep)), "a list of 1; a list of 1");
}

TEST(Pickle, RunsNothing) {
  expectError(load("cposix\nsystem\n(S'x'\ntR."), {"a.pkl: pickle", "'posix.system'", "not allowed", "byte 0"});
  expectError(load("\x8c\x08"
                   "builtins\x8c\x04"
                   "exec\x93."),
              {"'builtins.exec'", "not allowed"});
  expectError(load("(S'x'\nios\nsystem\n."), {"'os.system'", "not allowed"});
  expectError(load("(ctorch\nf\no."), {"not allowed", "opcode 'o'"});
  expectError(load("(itorch\nf\n."), {"INST", "not allowed"});
  expectError(load("\x82\x01."), {"opcode 0x82", "not allowed"});
  expectError(load("ctorch\nf\n)\x81."), {"opcode 0x81", "not allowed"});
  expectError(load("}}b."), {"BUILD", "not allowed"});
  expectError(load("ccollections\nOrderedDict\n)RK\x01"
                   "b."),
              {"BUILD", "the number 1"});
  expectError(load("K\x01)R."), {"requires a call of a global", "the number 1"});
  expectError(load("ccollections\nOrderedDict\n(]tR."), {"OrderedDict without arguments"});
}

TEST(Pickle, StaysInsideItsBytes) {
  expectError(load(""), {"STOP", "truncated"});
  expectError(load("K"), {"found 1", "truncated"});
  expectError(load("\x80\x09."), {"protocol 0 to 5"});
  expectError(load(bytes("X\xff\xff\xff\xff.")), {"4294967295", "truncated"});
  expectError(load(bytes("\x8d\x00\x00\x00\x00\x00\x00\x00\x40.")), {"4611686018427387904"});
  expectError(load(bytes("\x8b\xff\xff\xff\xff.")), {"not negative", "-1"});
  expectError(load("I1"), {"line", "truncated"});
  expectError(load("I99999999999999999999\n."), {"at most 64 bits"});
  expectError(load("Sok\n."), {"quoted"});
  expectError(load("S'\\x00'\n."), {"without escapes"});
  expectError(load(bytes("X\x01\x00\x00\x00\xff.")), {"UTF-8"});
}

TEST(Pickle, ChecksItsStack) {
  expectError(load("."), {"a value on the stack"});
  expectError(load("t."), {"a mark"});
  expectError(load("K\x01(s."), {"below the mark"});
  expectError(load("a."), {"below the mark"});
  expectError(load("s."), {"below the mark"});
  expectError(load("K\x01K\x02s."), {"below the mark"});
  expectError(load("]K\x01K\x02s."), {"requires a dict", "a list"});
  expectError(load("}K\x01"
                   "a."),
              {"requires a list", "a dict"});
  expectError(load("}(K\x01u."), {"odd number"});
  expectError(load("(K\x01"
                   "d."),
              {"odd number"});
  expectError(load("K\x01\x86."), {"2 values", "found 1"});
  expectError(load("K\x01(\x85."), {"1 values", "found 0"});
  expectError(load("K\x01(0K\x02\x87."), {"3 values", "found 2"});
  expectError(load("h\x05."), {"memo", "5"});
  expectError(load(bytes("q\x00.")), {"a value on the stack"});
  expectError(load("R."), {"2 values"});
  expectError(load("2."), {"a value on the stack"});
  expectError(load("1."), {"a mark"});
}

TEST(Pickle, IsBounded) {
  expectError(load(std::string(Unpickler::kMaxValues + 1, 'N') + "."), {"at most", "values"});
  // Tuples that each hold the one before twice: 2^60 leaves for whoever walks them.
  std::string bomb = "N";
  for (int i = 0; i < 60; ++i)
    bomb += "2\x86";
  EXPECT_EQ(llvm::cantFail(load(bomb + ".")), "a tuple of 2; a tuple of 2; a tuple of 2");
}

} // namespace
