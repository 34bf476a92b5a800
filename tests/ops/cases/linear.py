"""Gemm, MatMul and Einsum."""
import numpy as np

from cases.common import node, normal


def linear(cases):
    x, w, b = normal(1, 19), normal(19, 11), normal(11)
    cases.add("gemm_bias", node("Gemm", "x w b"), {"x": x}, {"y": x @ w + b}, {"w": w, "b": b})
    cases.add("gemm_no_bias", node("Gemm", "x w"), {"x": x}, {"y": x @ w}, {"w": w})
    cases.add("gemm_alpha_beta", node("Gemm", "x w b", alpha=0.3, beta=-2.5, transB=1),
              {"x": x}, {"y": np.float32(0.3) * (x @ w) - 2.5 * b}, {"w": w.T.copy(), "b": b})
    cases.add("gemm_nan_bias", node("Gemm", "x w b"), {"x": x}, {"y": np.full((1, 11), np.nan)},
              {"w": w, "b": np.full(11, np.nan, np.float32)})
    cases.add("gemm_opset7", node("Gemm", "x w b"), {"x": x}, {"y": x @ w + b},
              {"w": w, "b": b}, opset=7)
    batch = normal(3, 19)
    cases.add("gemm_rows", node("Gemm", "x w b"), {"x": batch}, {"y": batch @ w + b},
              {"w": w, "b": b})
    cases.add("gemm_rows_bias_matrix", node("Gemm", "x w b"), {"x": batch},
              {"y": batch @ w + np.arange(33).reshape(3, 11) / 9},
              {"w": w, "b": (np.arange(33).reshape(3, 11) / 9).astype(np.float32)})
    cases.add("gemm_transA", node("Gemm", "x w b", transA=1), {"x": batch.T.copy()},
              {"y": batch @ w + b}, {"w": w, "b": b})
    right = normal(11, 2)
    cases.add("gemm_left_constant", node("Gemm", "w x"), {"x": right}, {"y": w @ right}, {"w": w})
    cases.add("matmul_left_constant", node("MatMul", "w x"), {"x": right}, {"y": w @ right},
              {"w": w})
    cases.add("matmul_right_constant", node("MatMul", "x w"), {"x": batch}, {"y": batch @ w},
              {"w": w})
    vector = normal(19)
    cases.add("matmul_vector_right_constant", node("MatMul", "x w"), {"x": vector},
              {"y": vector @ w}, {"w": w})
    cases.add("matmul_vector_left_constant", node("MatMul", "w x"), {"x": vector},
              {"y": w.T @ vector}, {"w": w.T.copy()})
    cases.add("matmul_constant_vector", node("MatMul", "x w"), {"x": batch},
              {"y": batch @ vector}, {"w": vector})
    cases.add("matmul_dot", node("MatMul", "x w"), {"x": vector}, {"y": vector @ vector[::-1]},
              {"w": vector[::-1].copy()})
    deep = normal(2, 3, 19)
    cases.add("matmul_rank3", node("MatMul", "x w"), {"x": deep}, {"y": deep @ w}, {"w": w})
    stack = normal(2, 19, 5)
    cases.add("matmul_rank3_both", node("MatMul", "x w"), {"x": deep}, {"y": deep @ stack},
              {"w": stack})
    cases.add("matmul_rank3_constant", node("MatMul", "x w"), {"x": batch}, {"y": batch @ stack},
              {"w": stack})
    cases.add("matmul_rank3_left", node("MatMul", "w x"), {"x": stack}, {"y": w.T @ stack},
              {"w": w.T.copy()})
    wide, tall = normal(1, 100), normal(100, 70)
    cases.add("gemm_many_blocks", node("Gemm", "x w"), {"x": wide}, {"y": wide @ tall},
              {"w": tall})
    # Three rows of sixteen blocks over two cores: one of them is split.
    even, share, third = normal(1, 128), normal(128, 24), normal(24)
    total = even @ share + third
    cases.add("gemm_row_split", node("Gemm", "x w b"), {"x": even}, {"y": total},
              {"w": share, "b": third})
    cases.add("gemm_row_split_relu", [node("Gemm", "x w b", "g"), node("Relu", "g")], {"x": even},
              {"y": np.maximum(total, 0)}, {"w": share, "b": third})
    cases.add("gemm_row_split_tanh", [node("Gemm", "x w b", "g"), node("Tanh", "g")],
              {"x": even / 8}, {"y": np.tanh((total - third) / 8 + third)}, {"w": share, "b": third})
    cases.add("gemm_row_split_added", [node("Gemm", "x w b", "g"), node("Add", "g z")],
              {"x": even, "z": 3 * third[None]}, {"y": total + 3 * third}, {"w": share, "b": third})
    cases.add("gemm_one_by_one", node("Gemm", "x w b"), {"x": normal(1, 1) * 0 + 3},
              {"y": [[3 * 1.5 - 2]]}, {"w": np.float32([[1.5]]), "b": np.float32([-2])})
    h = np.maximum(x @ w + b, 0)
    v = normal(11, 6)
    cases.add("two_layers", [node("Gemm", "x w b", "g"), node("Relu", "g", "r"),
                             node("MatMul", "r v")],
              {"x": x}, {"y": h @ v}, {"w": w, "b": b, "v": v})
    cases.add("two_outputs", [node("Gemm", "x w b", "g"), node("Relu", "g", "r"),
                              node("MatMul", "r v")],
              {"x": x}, {"y": h @ v, "r": h, "g": x @ w + b}, {"w": w, "b": b, "v": v})
    cases.add("output_twice", [node("Relu", "x"), node("Identity", "y", "z")],
              {"x": x}, {"y": np.maximum(x, 0), "z": np.maximum(x, 0)})
    cases.add("two_inputs_added", [node("MatMul", "x w", "a"), node("Add", "a z")],
              {"x": x, "z": normal(1, 11) * 0 + 1}, {"y": x @ w + 1}, {"w": w})


def einsum(cases):
    def case(name, equation, x, w=None, constants=True):
        operands = [v for v in (x, w) if v is not None]
        y = np.einsum(equation, *map(np.float64, operands))
        weights = {} if w is None else {"w": w}
        cases.add(f"einsum_{name}", node("Einsum", "x w" if weights else "x", equation=equation),
                  {"x": x, **({} if constants else weights)}, {"y": y},
                  weights if constants else None)

    x, heads = normal(5, 9), normal(2, 5, 9)
    case("transpose", "ij->ji", x)
    case("row_sums", "ij->i", x)
    case("column_sums", "ij->j", x)
    case("implied", "ji", x)
    case("ellipsis_sum", "...j->...", heads)
    case("ellipsis_transpose", "i...j -> j...i", heads)
    case("dense", "ij,jk->ik", x, normal(9, 4))
    case("dense_transposed", "ij,kj->ik", x, normal(4, 9))
    case("dense_implied", "ij,jk", x, normal(9, 4))
    case("dense_turned", "ij,jk->ki", x, normal(9, 4))
    case("ellipsis_dense", "...j,jk->...k", heads, normal(9, 4))
    case("projection", "bsd,dhk->bshk", heads, normal(9, 3, 2))
    case("projection_heads_first", "bsd,dhk->bhsk", heads, normal(9, 3, 2))
    case("merge_heads", "bshk,hkd->bsd", normal(1, 3, 2, 4), normal(2, 4, 7))
    case("weights_left", "ij,jk->ik", normal(9, 4).T.copy(), normal(9, 3))
    case("batched_weights", "bij,bjk->bik", heads, normal(2, 9, 3))
    case("vector", "ij,j->i", x, normal(9))
    case("inner", "i,i->", normal(9), normal(9))
    case("product", "ij,ij->ij", x, normal(5, 9))
    case("scaled_rows", "ij,i->ij", x, normal(5))
    case("outer", "i,j->ij", normal(5), normal(9))
    case("sum_of_product", "ij,ik->i", x, normal(5, 3))
    q, k = normal(1, 2, 4, 8), normal(1, 2, 5, 8)
    case("dynamic_scores", "bhid,bhjd->bhij", q, k, False)
    case("dynamic_values", "bhij,bhjd->bhid", q[..., :5].copy(), k, False)


def many_operands(cases):
    """Einsum of three operands, and of diagonals."""
    x, a, b = normal(3, 9), normal(9, 6), normal(6, 5)
    cases.add("einsum_chain", node("Einsum", "x a b", equation="ij,jk,kl->il"), {"x": x},
              {"y": x.astype(float) @ a @ b}, {"a": a, "b": b})
    c = normal(3, 5, 4)
    cases.add("einsum_bilinear", node("Einsum", "x w c", equation="bi,oij,bj->bo"),
              {"x": x[:, :4], "c": c[:, :, 0]},
              {"y": np.einsum("bi,oij,bj->bo", x[:, :4].astype(float), c.transpose(0, 2, 1), c[:, :, 0])},
              {"w": c.transpose(0, 2, 1)}, flags=("--allow-dynamic-weights",))
    square = normal(2, 6, 6)
    cases.add("einsum_diagonal", node("Einsum", "x", equation="bii->bi"), {"x": square},
              {"y": np.einsum("bii->bi", square)})
    cases.add("einsum_trace", node("Einsum", "x", equation="...ii"), {"x": square},
              {"y": np.einsum("bii->b", square.astype(float))})
