# cmake -DROOT=dir -DFILES=a;b -DPREFIX=room/ -DOUTPUT=file -P EmbedText.cmake
# Writes one line {"room/name", R"MLIR(text)MLIR"}, for every file: text that a library carries with it.
set(text "// Made by cmake/EmbedText.cmake.\n")
foreach(file IN LISTS FILES)
  # [ and ] and ; mean something in CMake lists, but not in a quoted string.
  file(READ "${ROOT}/${file}" body)
  string(APPEND text "{\"${PREFIX}${file}\", R\"MLIR(${body})MLIR\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
