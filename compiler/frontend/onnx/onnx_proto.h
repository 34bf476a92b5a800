// The protobuf classes of libonnx, the only part of it that is used: its
// checker throws and its shape inference trusts what it reads.
#pragma once

#include <onnx/onnx_pb.h>
