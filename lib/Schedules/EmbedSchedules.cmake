# cmake -DROOT=dir -DFILES=a;b -DOUTPUT=file -P EmbedSchedules.cmake
# Writes one line {"name", R"MLIR(text)MLIR"}, for every file.
set(text "// Made from lib/Schedules by EmbedSchedules.cmake.\n")
foreach(file IN LISTS FILES)
  # [ and ] and ; mean something in CMake lists, but not in a quoted string.
  file(READ "${ROOT}/${file}" body)
  string(APPEND text "{\"lib/Schedules/${file}\", R\"MLIR(${body})MLIR\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
