//===- ScheduleLibrary.cpp - Transform sequences by kernel kind -----------===//

#include "lib/Schedules/ScheduleLibrary.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::convbert;

static const ScheduleLibrary::File kFiles[] = {
#include "lib/Schedules/Schedules.inc"
};

/// Name of an element type in the name of a sequence, e.g. `f32`.
static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

FailureOr<std::shared_ptr<ScheduleLibrary>> ScheduleLibrary::load(MLIRContext *context) {
  return load(context, kFiles);
}

FailureOr<std::shared_ptr<ScheduleLibrary>> ScheduleLibrary::load(MLIRContext *context, ArrayRef<File> files) {
  auto library = std::make_shared<ScheduleLibrary>();
  for (const File &file : files)
    if (failed(library->addFile(context, file)))
      return failure();
  for (const auto &entry : library->sequences)
    if (failed(library->checkSequence(entry.second)))
      return failure();
  return library;
}

LogicalResult ScheduleLibrary::addFile(MLIRContext *context, File file) {
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(file.second, ParserConfig(context), file.first);
  if (!parsed)
    return failure();
  if (auto parameters = parsed.get()->getAttrOfType<DictionaryAttr>("convbert.isa"))
    for (NamedAttribute isa : parameters) {
      auto values = dyn_cast<DictionaryAttr>(isa.getValue());
      if (!values)
        return parsed->emitError("requires a dictionary of parameters for each instruction set, but found ")
               << isa.getValue() << " for " << isa.getName();
      isas[isa.getName()] = values;
    }
  for (auto sequence : parsed->getOps<transform::NamedSequenceOp>()) {
    if (sequence.isPrivate())
      continue;
    if (!sequences.try_emplace(sequence.getSymName(), sequence).second)
      return sequence.emitError("requires a name of its own, but found @")
             << sequence.getSymName() << " in " << sequences[sequence.getSymName()].getLoc();
  }
  files.push_back(std::move(parsed));
  return success();
}

LogicalResult ScheduleLibrary::checkSequence(transform::NamedSequenceOp sequence) const {
  SmallVector<StringRef> parts;
  sequence.getSymName().split(parts, '.');
  if (parts.size() > 3 || llvm::is_contained(parts, ""))
    return sequence.emitError("requires a name `kind`, `kind.element` or `kind.element.isa`, but found @")
           << sequence.getSymName();
  if (parts.size() == 3 && !hasIsa(parts[2]))
    return sequence.emitError("requires one of the instruction sets ")
           << isaNames() << " in its name, but found @" << sequence.getSymName();
  if (sequence.getNumArguments() == 0)
    return sequence.emitError("requires the kernel function as its first argument, but found none");
  for (unsigned i = 1, e = sequence.getNumArguments(); i < e; ++i) {
    auto name = sequence.getArgAttrOfType<StringAttr>(i, "convbert.param");
    if (!name)
      return sequence.emitError("requires an attribute `convbert.param` on argument ") << i << ", but found none";
    for (const auto &isa : isas)
      if ((parts.size() < 3 || isa.getKey() == parts[2]) && !isa.second.getAs<IntegerAttr>(name))
        return sequence.emitError("requires a parameter ") << name << " of " << isa.getKey() << ", but found none";
  }
  return success();
}

std::string ScheduleLibrary::isaNames() const {
  SmallVector<StringRef> names = llvm::to_vector(isas.keys());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

SmallVector<std::string, 3> ScheduleLibrary::candidates(StringRef isa, Type element, StringRef kind) {
  std::string general = (kind + "." + printed(element)).str();
  return {general + "." + isa.str(), general, kind.str()};
}

transform::NamedSequenceOp ScheduleLibrary::find(StringRef isa, Type element, StringRef kind) const {
  for (const std::string &name : candidates(isa, element, kind))
    if (transform::NamedSequenceOp sequence = sequences.lookup(name))
      return sequence;
  return {};
}

std::string ScheduleLibrary::namesLike(StringRef kind) const {
  SmallVector<std::string> all, same;
  for (StringRef name : sequences.keys()) {
    all.push_back(("@" + name).str());
    if (name.split('.').first == kind)
      same.push_back(all.back());
  }
  SmallVector<std::string> &names = same.empty() ? all : same;
  llvm::sort(names);
  return llvm::join(names, ", ");
}

SmallVector<std::pair<StringRef, int64_t>> ScheduleLibrary::parameters(transform::NamedSequenceOp sequence,
                                                                       StringRef isa) const {
  SmallVector<std::pair<StringRef, int64_t>> result;
  DictionaryAttr values = isas.lookup(isa);
  for (unsigned i = 1, e = sequence.getNumArguments(); i < e; ++i) {
    auto name = sequence.getArgAttrOfType<StringAttr>(i, "convbert.param");
    result.emplace_back(name, values.getAs<IntegerAttr>(name).getInt());
  }
  return result;
}

LogicalResult ScheduleLibrary::apply(transform::NamedSequenceOp sequence, StringRef isa, Operation *kernel) const {
  DictionaryAttr parameters = isas.lookup(isa);
  RaggedArray<transform::MappedValue> bindings;
  bindings.push_back(SmallVector<transform::MappedValue>{kernel});
  for (unsigned i = 1, e = sequence.getNumArguments(); i < e; ++i) {
    Attribute value = parameters.get(sequence.getArgAttrOfType<StringAttr>(i, "convbert.param"));
    bindings.push_back(SmallVector<transform::MappedValue>{value});
  }
  transform::TransformOptions options;
  options.enableExpensiveChecks(false); // the sequences are ours and tested with the checks on
  auto root = cast<transform::TransformOpInterface>(sequence.getOperation());
  return transform::applyTransformNamedSequence(bindings, root, sequence->getParentOfType<ModuleOp>(), options);
}
