"""onnxruntime as a reference: it computes every node as the model says, in one thread, and replaces none by faster ones."""
import onnxruntime


def session(model):
    """Of a model or of the path of its file."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])
