//===- ConvBERT.td - The whole dialect --------------------------*- tablegen -*-===//

#ifndef CONVBERT_TD
#define CONVBERT_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"
include "dialect/IR/ConvBERTNNOps.td"
include "dialect/IR/ConvBERTConvOps.td"
include "dialect/IR/ConvBERTDynamicOps.td"
include "dialect/IR/ConvBERTGatingOps.td"
include "dialect/IR/ConvBERTAttentionOps.td"
include "dialect/IR/ConvBERTTileOps.td"

#endif // CONVBERT_TD
