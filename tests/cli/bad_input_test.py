#!/usr/bin/env python3
"""Damaged files: for each the exit code, every word said, nothing on standard
output and no output file.

usage: bad_input_test.py SLUICE [unittest arguments]
"""
import hashlib
import os
import struct
import subprocess

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import SLUICE, main
from refusal import MALFORMED, REFUSED, Refusal

HEADER, ENTRY, SECTIONS = 64, 64, 11


class Programs(Refusal):
    def damaged(self, data, code, message):
        self.save("p.sluice", data)
        text = f"error[{code}]: 'p.sluice': {message}\n"
        self.refused(MALFORMED, text, "run", "p.sluice", "--engine", "vm", "--input", "x=zeros", "--output", "y=@y.npy")
        self.refused(MALFORMED, text, "inspect", "p.sluice")

    def test_truncated(self):
        good = self.compiled()
        self.damaged(b"", "E0502", "not a program file: 'sluice compile' writes one from a model")
        for size in (5, 8, 63):
            self.damaged(good[:size], "E0504", f"truncated: the file has {size} bytes, the header alone has 64")
        for size in (64, 639, len(good) // 2, len(good) - 1):
            self.damaged(good[:size], "E0504", f"truncated: the file has {size} bytes, the header says {len(good)}")

    def test_longer(self):
        good = self.compiled()
        self.damaged(good + b"x", "E0505", f"trailing bytes: the file has {len(good) + 1} bytes, the header says {len(good)}")

    def flipped_message(self, good, position, bit):
        """What flipping one bit does, from the layout in docs/program-format.md."""
        def header(at, form):
            return struct.unpack_from(form, good, at)[0] ^ 1 << (8 * (position - at) + bit)
        if position < 8:
            return "E0502", "not a program file: 'sluice compile' writes one from a model"
        if position < 12:
            return "E0503", f"format version {header(8, '<I')}, this build reads version 10: compile the model again"
        if position < 16:
            return "E0503", (f"instruction set version {header(12, '<I')}, this build has version 4: "
                             "compile the model again")
        if position < 24 and header(16, "<Q") > len(good):
            return "E0504", f"truncated: the file has {len(good)} bytes, the header says {header(16, '<Q')}"
        if 24 <= position < 28:
            return "E0507", f"the file has {header(24, '<I')} sections, expected 11"
        if position < HEADER + SECTIONS * ENTRY:
            return "E0506", "damaged: the SHA-256 of the header does not match"
        names = ("geometry", "models", "instructions", "weights", "rows", "preloads", "tables", "source map",
                 "information", "state", "computed rows")
        for index, name in enumerate(names):
            offset, size = struct.unpack_from("<QQ", good, HEADER + index * ENTRY + 8)
            if position < offset:
                return "E0506", f"damaged: padding before section '{name}' is not zero"
            if position < offset + size:
                return "E0506", f"damaged: the SHA-256 of section '{name}' does not match"
        raise AssertionError("the position is behind the last section")

    def test_flipped_bits(self):
        """Every 11th byte and every padding's first and last: all kinds of places, all eight bits."""
        good = self.compiled()
        positions = set(range(0, len(good), 11)) | set(range(8, 28))
        for index in range(SECTIONS):
            offset, size = struct.unpack_from("<QQ", good, HEADER + index * ENTRY + 8)
            positions |= {offset - 1, offset, offset + size - 1, min(offset + size, len(good) - 1)}
        for count, position in enumerate(sorted(positions)):
            with self.subTest(position=position, bit=count % 8):
                data = bytearray(good)
                data[position] ^= 1 << count % 8
                self.save("p.sluice", data)
                code, message = self.flipped_message(good, position, count % 8)
                self.refused(MALFORMED, f"error[{code}]: 'p.sluice': {message}\n", "inspect", "p.sluice")

    def test_wrong_version(self):
        """Also where the header's hash was made to match."""
        good = self.compiled()
        for offset, version, what in ((8, 11, "format version 11, this build reads version 10"),
                                      (12, 9, "instruction set version 9, this build has version 4")):
            data = bytearray(good)
            struct.pack_into("<I", data, offset, version)
            data[32:64] = bytes(32)
            data[32:64] = hashlib.sha256(data[:HEADER + SECTIONS * ENTRY]).digest()
            self.damaged(data, "E0503", what + ": compile the model again")

    def test_not_a_program(self):
        self.compiled()
        self.damaged((self.dir / "good.onnx").read_bytes(), "E0502",
                     "not a program file: 'sluice compile' writes one from a model")
        for command in ("run", "inspect"):
            self.refused(MALFORMED, "error[E0501]: cannot read '.': it is a directory\n", command, ".")
            self.refused(MALFORMED, "error[E0501]: cannot read 'no.sluice': No such file or directory\n", command,
                         "no.sluice")


class Files(Refusal):
    def test_model_cut_anywhere(self):
        """Every 7th length and around every field of the outermost message, which decides what is said."""
        good = models.dense().SerializeToString()
        ends = []  # of the fields of ModelProto
        position = 0
        while position < len(good):
            start, field, kind = position, good[position] >> 3, good[position] & 7
            position += 1
            length, shift = 0, 0
            while True:
                byte = good[position]
                position += 1
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            ends.append((field, start, position, position + length if kind == 2 else position, length))
            position = ends[-1][3]
        complete = {field: end for field, _, _, end, _ in ends}
        edges = {at + step for entry in ends for at in entry[1:4] for step in (-1, 0, 1)}
        for size in sorted({*range(0, len(good), 7), *edges} & {*range(len(good))}):
            inside = [entry for entry in ends if entry[1] < size < entry[3]]
            if size == 0:
                message = "the file is empty"
            elif inside and size < inside[0][2]:
                message = f"field {inside[0][0]} at byte {inside[0][1]} is incomplete; the file is truncated or damaged"
            elif inside:
                field, start, body, _, length = inside[0]
                message = (f"field {field} at byte {start} claims {length} bytes, but only {size - body} follow; "
                           "the file is truncated or damaged")
            elif size < complete[7]:
                message = "the model has no graph; the file is truncated, or not an ONNX model"
            else:
                message = "the model imports no opset; the file is truncated, or older than ONNX 1.0"
            self.save("cut.onnx", good[:size])
            with self.subTest(size=size):
                self.refused(MALFORMED, f"error[E0102]: {message}\n  --> cut.onnx\n", "compile", "cut.onnx", "--target",
                             "c2b8", "-o", "new.sluice")

    def test_no_model(self):
        self.save("m.onnx", b'{"model": "digits"}\n')
        self.compile_refused(MALFORMED, """
            error[E0102]: the file is text, not an ONNX model (a binary protobuf)
              --> m.onnx
            """)
        self.save("m.onnx", b"")
        self.compile_refused(MALFORMED, """
            error[E0102]: the file is empty
              --> m.onnx
            """)
        (self.dir / "folder.onnx").mkdir()
        self.compile_refused(MALFORMED, """
            error[E0101]: 'folder.onnx' is a directory, not a model file
              --> folder.onnx
            """, file="folder.onnx")
        self.compile_refused(MALFORMED, """
            error[E0101]: cannot open 'missing.onnx': No such file or directory
              --> missing.onnx
            """, file="missing.onnx")

    def test_streams_without_end(self):
        """What is no model is refused by how it begins."""
        error = ("error[E0102]: byte 0 does not start a protobuf field; this is not an ONNX model\n  --> {}\n")
        for command in ("check", "compile"):
            self.refused(MALFORMED, error.format("/dev/zero"), command, "/dev/zero", "--target", "c2b8")
            with open("/dev/zero", "rb") as zero:
                done = subprocess.run([SLUICE, command, "-", *(["-o", "new.sluice"] if command == "compile" else [])],
                                      cwd=self.dir, stdin=zero, capture_output=True, timeout=3600, check=False)
            self.assertEqual((done.returncode, done.stdout.decode(), done.stderr.decode()),
                             (MALFORMED, "", error.format("-")))
        (self.dir / "zero.mlir").symlink_to("/dev/zero")
        self.refused(MALFORMED, """
            error[E0116]: 'zero.mlir' is a device, a file is needed
              --> zero.mlir
            """, "check", "zero.mlir")

    def test_sizes_beyond_memory(self):
        """Three gigabytes that take no room on the disk are neither read nor allocated."""
        for data in (b"", models.dense().SerializeToString()):
            self.save("sparse.onnx", data)
            os.truncate(self.dir / "sparse.onnx", 3 << 30)
            code, out, err = self.sluice("check", "sparse.onnx")
            self.assertEqual((code, out, err), (REFUSED, b"", (
                "error[E0103]: the model has 3221225472 bytes; at most 2147483647 are allowed\n  --> sparse.onnx\n"
                " help: store the weights as external data\n")))
        (self.dir / "sparse.onnx").unlink()
        huge = models.dense(2**62)
        self.compile_refused(MALFORMED, """
            error[E0110]: input 'x' has shape [4611686018427387904 8], more than 2147483647 elements
              --> m.onnx
            """, huge)
        self.compile_refused(REFUSED, """
            error[E0206]: Expand: the result has more than 2147483647 elements
              --> m.onnx: node 0 "grow" (Expand)
            """, models.model([helper.make_node("Expand", ["x", "s"], ["y"], name="grow")], [models.tensor("x", 1, 1)],
                              [models.tensor("y", 2**31, 2**31)], [models.constant("s", np.int64([2**31, 2**31]))]))

    def test_no_elements(self):
        self.compile_refused(REFUSED, """
            error[E0205]: MatMul: the operand [8 0] has no elements; the accelerator needs at least 1
              --> m.onnx: node 0 "fc" (MatMul)
            """, models.model([helper.make_node("MatMul", ["x", "W"], ["y"], name="fc")], [models.tensor("x", 1, 8)],
                              [models.tensor("y", 1, 0)], [models.constant("W", np.zeros((8, 0), np.float32))]))

    def test_nested_deeply(self):
        """Graphs in attributes of nodes of graphs: no recursion of ours, and a limit to protobuf's."""
        def field(number, payload):
            size = b""
            length = len(payload)
            while length > 127:
                size, length = size + bytes([length & 127 | 128]), length >> 7
            return bytes([number << 3 | 2]) + size + bytes([length]) + payload
        graph = b""
        for _ in range(3000):
            graph = field(1, field(4, b"If") + field(5, field(6, graph) + field(1, b"then_branch")))
        self.save("m.onnx", field(7, graph))
        self.compile_refused(MALFORMED, """
            error[E0102]: the protobuf is malformed inside a field, or nests messages more than 100 deep
              --> m.onnx
            """)

    def test_initializer_size(self):
        for change, message in (
                (models.raw_of(188), "has 188 bytes of raw data, but float of shape [8 6] needs 192"),
                (models.raw_of(196), "has 196 bytes of raw data, but float of shape [8 6] needs 192"),
                (models.set_shape(8, 7), "has 192 bytes of raw data, but float of shape [8 7] needs 224"),
                (models.set_shape(8, -6), "has a negative extent, -6, in its shape [8 -6]"),
                (models.set_shape(2**40, 2**40),
                 "has shape [1099511627776 1099511627776], more than 268435456 elements"),
                (models.set_shape(2**62, 4), "has shape [4611686018427387904 4], more than 268435456 elements")):
            with self.subTest(message=message):
                self.compile_refused(MALFORMED, f"error[E0105]: initializer 'W' {message}\n  --> m.onnx\n",
                                     models.with_weights(change))

    def test_external_data(self):
        (self.outside / "outside.bin").write_bytes(bytes(192))
        (self.dir / "link.bin").symlink_to("../outside.bin")
        (self.dir / "up").symlink_to("..")
        (self.dir / "sub").mkdir()
        self.save("short.bin", bytes(100))
        for location, message in (
                ("../outside.bin",
                 "external data location '../outside.bin' contains '..'; it must stay in the model's folder"),
                ("sub/../../outside.bin",
                 "external data location 'sub/../../outside.bin' contains '..'; it must stay in the model's folder"),
                (f"{self.outside}/outside.bin", f"external data location '{self.outside}/outside.bin' is absolute; "
                 "it must be relative to the model's folder"),
                ("link.bin", "external data location 'link.bin' is a link that leaves the model's folder"),
                ("up/outside.bin",
                 "external data location 'up/outside.bin' is a link that leaves the model's folder"),
                ("sub", "external data 'sub' is not a regular file"),
                ("", "external data location '' is not a file name"),
                ("missing.bin", "cannot open external data 'missing.bin': No such file or directory; --external-data gives its folder"),
                ("short.bin", "external data needs 192 bytes from byte 0 of 'short.bin', but the file has 100 bytes")):
            with self.subTest(location=location):
                self.compile_refused(MALFORMED, f"error[E0106]: initializer 'W': {message}\n  --> m.onnx\n",
                                     models.with_weights(models.external(location)))
        for length, message in (
                (-1, "external data has length '-1'; expected a number of bytes"),
                (2**63, "external data needs 9223372036854775808 bytes from byte 0 of 'short.bin', but the file has 100 bytes")):
            self.compile_refused(MALFORMED, f"error[E0106]: initializer 'W': {message}\n  --> m.onnx\n",
                                 models.with_weights(models.external("short.bin", length)))
        for offset, message in (
                ("-5", "external data has offset '-5'; expected a number of bytes"),
                (2**64 - 8, "external data starts at byte 18446744073709551608 of 'short.bin', but the file has 100 bytes"),
                (2**64, "external data has offset '18446744073709551616'; expected a number of bytes")):
            proto = models.with_weights(models.external("short.bin"))
            proto.graph.initializer[0].external_data.add(key="offset", value=str(offset))
            self.compile_refused(MALFORMED, f"error[E0106]: initializer 'W': {message}\n  --> m.onnx\n", proto)
        self.save("inside.bin", bytes(192))
        onnx.save(models.with_weights(models.external("inside.bin")), self.dir / "m.onnx")
        self.assertEqual(self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")[0], 0)


if __name__ == "__main__":
    main()
