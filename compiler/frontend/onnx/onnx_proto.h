// The protobuf classes of libonnx. Of the rest of it only the descriptions of operators
// are used: its checker throws and its shape inference trusts what it reads.
#pragma once

#include <onnx/onnx_pb.h>
