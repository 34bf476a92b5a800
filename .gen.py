import sys; sys.argv=['x','build/release/bin/sluice']; sys.path.insert(0,'tests/models')
import token_models_test as t, onnx
for n in ('encoder','recurrent','bag','masked','shifted'): onnx.save(getattr(t,n)(), f'/tmp/tok_{n}.onnx')
