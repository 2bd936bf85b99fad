// Parameters of the instruction sets: what the sequences' arguments marked `convbert.param` are bound to.  The names are
// those of lib/Outline/Target.cpp.
//   nv     lanes of a native vector of f32
//   mb     row tiles a cache block of the matrix product (48 rows fit a 512 KiB L2, 128 a 2 MiB one); lib/Outline/CostModel.h
//          counts on it
//   chunk  weight panels a task: some 96 columns or more
//   depth  input features of a slice, where a matrix product is taken in slices
//   rows   query rows of attention in registers at a time
//   narrow columns of a head in registers at a time; wide: the same for heads that 32 divides
module attributes {convbert.isa = {
  generic = {nv = 4 : i64, mb = 12 : i64, chunk = 12 : i64, depth = 768 : i64, rows = 2 : i64, narrow = 8 : i64, wide = 8 : i64},
  avx2   = {nv = 8 : i64, mb = 12 : i64, chunk = 4 : i64, depth = 768 : i64, rows = 4 : i64, narrow = 16 : i64, wide = 16 : i64},
  avx512 = {nv = 16 : i64, mb = 16 : i64, chunk = 4 : i64, depth = 768 : i64, rows = 8 : i64, narrow = 16 : i64, wide = 32 : i64},
  avx512bf16 = {nv = 16 : i64, mb = 16 : i64, chunk = 4 : i64, depth = 768 : i64, rows = 8 : i64, narrow = 16 : i64, wide = 32 : i64},
  neon   = {nv = 4 : i64, mb = 12 : i64, chunk = 6 : i64, depth = 768 : i64, rows = 4 : i64, narrow = 16 : i64, wide = 16 : i64}
}} {}
