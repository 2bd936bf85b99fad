//===- TensorContents.cpp - Are the numbers what they should be? -*- C++ -*-===//

#include "lib/Import/TensorContents.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/UnpackedFile.h"
#include "lib/Import/ZipArchive.h"
#include <map>

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

static constexpr uint64_t kPieceBytes = 1u << 18;

/// Calls `consume` with the bytes of a range.
static Error streamRange(const ByteSource &source, uint64_t offset, uint64_t bytes,
                         llvm::function_ref<Error(StringRef)> consume) {
  std::vector<char> buffer(std::min(bytes, kPieceBytes));
  while (bytes > 0) {
    llvm::MutableArrayRef<char> piece = llvm::MutableArrayRef(buffer).take_front(std::min(bytes, kPieceBytes));
    if (Error failure = source.read(piece, offset))
      return failure;
    if (Error failure = consume({piece.data(), piece.size()}))
      return failure;
    offset += piece.size();
    bytes -= piece.size();
  }
  return Error::success();
}

namespace {

/// The parameters of one file.
class FileCheck {
public:
  FileCheck(const ByteSource &source, llvm::ArrayRef<TensorInfo *> tensors) : source(source), tensors(tensors) {}

  Error run(const DirectoryProvider &unpackTo);

private:
  /// The tensors of one zip member, by where the member stands in the directory.
  using MemberTensors = std::map<uint64_t, std::vector<TensorInfo *>>;

  Error checkPlain(const TensorInfo &tensor) const;
  Error checkMember(const ZipArchive &archive, llvm::ArrayRef<TensorInfo *> sharing,
                    llvm::function_ref<Error(StringRef)> copy) const;
  static Error refuse(const TensorInfo &tensor, const FiniteScan::Finding &finding, uint64_t first);

  const ByteSource &source;
  llvm::ArrayRef<TensorInfo *> tensors;
};

} // namespace

/// `first` is the tensor's first element in what was scanned.
Error FileCheck::refuse(const TensorInfo &tensor, const FiniteScan::Finding &finding, uint64_t first) {
  return importError(tensor.file + ": tensor " + quoted(tensor.name) + ": requires finite numbers, but found " +
                     finding.what + " (number " + Twine(finding.index - first) + " of its " +
                     Twine(tensor.bytes * 8 / elementBits(tensor.dtype)) +
                     "); was the model trained, or converted to half precision, without overflow?");
}

Error FileCheck::checkPlain(const TensorInfo &tensor) const {
  FiniteScan scan(tensor.dtype);
  return streamRange(source, tensor.offset, tensor.bytes, [&](StringRef piece) {
    Error refusal = Error::success();
    scan.feed(piece, [&](const FiniteScan::Finding &finding) {
      refusal = llvm::joinErrors(std::move(refusal), refuse(tensor, finding, 0));
      return false;
    });
    return refusal;
  });
}

Error FileCheck::checkMember(const ZipArchive &archive, llvm::ArrayRef<TensorInfo *> sharing,
                             llvm::function_ref<Error(StringRef)> copy) const {
  const ZipMember &member = *sharing.front()->member;
  // Offsets of a member's tensors are multiples of the element's width, but for what NumPy writes in front.
  uint64_t base = member.deflated ? 0 : member.dataOffset;
  uint64_t width = elementBits(sharing.front()->dtype) / 8;
  const uint64_t header = (sharing.front()->offset - base) % width;
  uint64_t toSkip = header;
  FiniteScan scan(sharing.front()->dtype);
  return archive.stream(member, [&](StringRef piece) -> Error {
    if (Error failure = copy(piece))
      return failure;
    size_t skipped = std::min<uint64_t>(toSkip, piece.size());
    toSkip -= skipped;
    Error refusal = Error::success();
    scan.feed(piece.drop_front(skipped), [&](const FiniteScan::Finding &finding) {
      uint64_t at = finding.index * width + header;
      for (const TensorInfo *tensor : sharing) {
        uint64_t begin = tensor->offset - base;
        if (at < begin || at - begin >= tensor->bytes)
          continue;
        refusal = llvm::joinErrors(std::move(refusal), refuse(*tensor, finding, (begin - header) / width));
        return false;
      }
      return true; // a part of the storage that no parameter uses
    });
    return refusal;
  });
}

Error FileCheck::run(const DirectoryProvider &unpackTo) {
  MemberTensors members;
  for (TensorInfo *tensor : tensors) {
    if (tensor->member)
      members[tensor->member->position].push_back(tensor);
    else if (Error failure = checkPlain(*tensor))
      return failure;
  }
  if (members.empty())
    return Error::success();
  llvm::Expected<ZipArchive> archive = ZipArchive::open(source);
  if (!archive)
    return archive.takeError();
  UnpackedFile unpacked(source.getPath());
  for (auto &[position, sharing] : members) {
    bool copies = sharing.front()->member->deflated && unpackTo;
    if (copies)
      if (Error failure = unpacked.begin(unpackTo))
        return failure;
    if (Error failure = checkMember(
            *archive, sharing, [&](StringRef piece) { return copies ? unpacked.append(piece) : Error::success(); }))
      return failure;
    if (copies)
      for (TensorInfo *tensor : sharing)
        tensor->offset += unpacked.endMember(tensor->member->bytes);
  }
  if (!unpacked.isOpen())
    return Error::success();
  llvm::Expected<std::string> path = unpacked.finish();
  if (!path)
    return path.takeError();
  for (auto &[position, sharing] : members)
    for (TensorInfo *tensor : sharing)
      if (tensor->member->deflated)
        tensor->file = *path;
  return Error::success();
}

/// Whether two tensors of plain layout hold the same bytes.
static llvm::Expected<bool> haveEqualBytes(const TensorInfo &a, const TensorInfo &b) {
  if (a.dtype != b.dtype || a.bytes != b.bytes)
    return false;
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(b.file);
  if (!source)
    return source.takeError();
  llvm::Expected<std::unique_ptr<ByteSource>> first = openFile(a.file);
  if (!first)
    return first.takeError();
  bool equal = true;
  uint64_t position = 0;
  std::vector<char> buffer(std::min(a.bytes, kPieceBytes));
  Error failure = streamRange(**source, b.offset, b.bytes, [&](StringRef piece) -> Error {
    llvm::MutableArrayRef<char> other = llvm::MutableArrayRef(buffer).take_front(piece.size());
    if (Error failure = equal ? (*first)->read(other, a.offset + position) : Error::success())
      return failure;
    equal &= StringRef(other.data(), other.size()) == piece;
    position += piece.size();
    return Error::success();
  });
  if (failure)
    return std::move(failure);
  return equal;
}

/// Notes a tied output matrix that is stored beside the word table with other numbers: both are kept.
static Error compareTiedTables(Checkpoint &checkpoint) {
  if (checkpoint.modelClass != ModelClass::MaskedLM || !checkpoint.config.tieWordEmbeddings)
    return Error::success();
  const TensorInfo &word = *checkpoint.word, &decoder = *checkpoint.head[4];
  auto comparable = [](const TensorInfo &tensor) {
    return tensor.layout.isPlain() && !(tensor.member && tensor.member->deflated);
  };
  if (&word == &decoder || !comparable(word) || !comparable(decoder))
    return Error::success();
  llvm::Expected<bool> equal = haveEqualBytes(word, decoder);
  if (!equal)
    return equal.takeError();
  if (!*equal)
    checkpoint.notes.push_back("tie_word_embeddings is true, but '" + decoder.name + "' differs from '" + word.name +
                               "'; both are kept");
  return Error::success();
}

Error checkContents(Checkpoint &checkpoint, const DirectoryProvider &unpackTo) {
  std::vector<const TensorInfo *> parameters = checkpoint.parameters();
  llvm::DenseSet<const TensorInfo *> used(parameters.begin(), parameters.end());
  std::map<std::string, std::vector<TensorInfo *>> files;
  for (TensorInfo &tensor : checkpoint.tensors)
    if (used.contains(&tensor))
      files[tensor.file].push_back(&tensor);
  for (auto &[path, tensors] : files) {
    llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
    if (!source)
      return source.takeError();
    checkpoint.files[path] = {(*source)->getSize(), (*source)->getModified()};
    if (Error failure = FileCheck(**source, tensors).run(unpackTo))
      return failure;
  }
  return compareTiedTables(checkpoint);
}

} // namespace mlir::convbert
