"""A case: a model, its inputs and expected outputs, in the folders of ONNX's backend tests."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(20)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


class Cases:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def add(self, name, nodes, inputs, outputs, constants=None, opset=17,
            result=TensorProto.FLOAT, flags=()):
        """Inputs, outputs and constants are arrays by name; `result` is the outputs' type,
        flags are of sluice compile."""
        def infos(tensors, kind):
            return [helper.make_tensor_value_info(k, kind, np.shape(v))
                    for k, v in tensors.items()]

        initializers = [numpy_helper.from_array(np.asarray(v), k)
                        for k, v in (constants or {}).items()]
        graph = helper.make_graph(nodes if isinstance(nodes, list) else [nodes], name,
                                  infos(inputs, TensorProto.FLOAT), infos(outputs, result),
                                  initializers)
        domains = {one.domain for one in graph.node} - {""}
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", opset), *(helper.make_opsetid(one, 1) for one in sorted(domains))])
        model.ir_version = 8
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(self.folder / name / "model.onnx"))
        if flags:
            (self.folder / name / "flags.txt").write_text("\n".join(flags) + "\n")
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(tensors.values()):
                proto = numpy_helper.from_array(np.asarray(value, np.float32))
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())
        self.count += 1

    def unary(self, name, op, function, x, opset=17, **attributes):
        self.add(name, node(op, "x", **attributes), {"x": x}, {"y": function(np.asarray(x, np.float64))},
                 opset=opset)
