//===- ScheduleLibrary.h - Transform sequences by kernel kind ---*- C++ -*-===//

#ifndef CONVBERT_SCHEDULES_SCHEDULELIBRARY_H
#define CONVBERT_SCHEDULES_SCHEDULELIBRARY_H

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// The named sequences of lib/Schedules, parsed.
///
/// A public sequence is called `kind`, `kind.element` or `kind.element.isa`; a private one is a helper of its file.
/// Its first argument is the kernel function, the others are parameters: `!transform.param<i64>` with an attribute
/// `convbert.param = "name"`, bound to the value that the instruction set has under that name (cpu/isa.mlir).
class ScheduleLibrary {
public:
  /// Name and text of an MLIR file.
  using File = std::pair<StringRef, StringRef>;

  /// Parses `files`.  An error in one of them, a name that is not of the above form, a name used twice and a parameter
  /// that an instruction set lacks are reported at the file's line.
  static FailureOr<std::shared_ptr<ScheduleLibrary>> load(MLIRContext *context, ArrayRef<File> files);

  /// Parses the files of lib/Schedules, which are embedded in this library.
  static FailureOr<std::shared_ptr<ScheduleLibrary>> load(MLIRContext *context);

  /// Whether parameters for `isa` exist.
  bool hasIsa(StringRef isa) const { return isas.contains(isa); }

  /// Names of the instruction sets, sorted, separated by ", ".
  std::string isaNames() const;

  /// The most special of `kind.element.isa`, `kind.element` and `kind`; null if there is none.
  transform::NamedSequenceOp find(StringRef isa, Type element, StringRef kind) const;

  /// The names that find() looks up, in its order.
  static SmallVector<std::string, 3> candidates(StringRef isa, Type element, StringRef kind);

  /// Names of the sequences for `kind`, or of all if there is none, sorted: "@dense.f32, @norm.f32".
  std::string namesLike(StringRef kind) const;

  /// Name and value of each parameter that apply() binds.
  SmallVector<std::pair<StringRef, int64_t>> parameters(transform::NamedSequenceOp sequence, StringRef isa) const;

  /// Applies `sequence` to the function `kernel` with the parameters of `isa`.
  LogicalResult apply(transform::NamedSequenceOp sequence, StringRef isa, Operation *kernel) const;

private:
  LogicalResult addFile(MLIRContext *context, File file);
  LogicalResult checkSequence(transform::NamedSequenceOp sequence) const;

  SmallVector<OwningOpRef<ModuleOp>> files;
  llvm::StringMap<transform::NamedSequenceOp> sequences;
  llvm::StringMap<DictionaryAttr> isas;
};

} // namespace mlir::convbert

#endif // CONVBERT_SCHEDULES_SCHEDULELIBRARY_H
