# SPDX-License-Identifier: Apache-2.0
"""The package's declarations against qrt/qrt.h: structs, functions, numbers, version."""
import ctypes
import os
import re
import unittest

import qrt
from qrt import _buffers, _errors, _library, _types
from support import ROOT

with open(os.path.join(ROOT, "runtime", "include", "qrt", "qrt.h"), encoding="utf-8") as _file:
    HEADER = re.sub(r"/\*.*?\*/", "", _file.read(), flags=re.DOTALL)

C_TYPES = {
    "int": ctypes.c_int, "size_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64,
    "qrt_dtype": ctypes.c_int, "const char*": ctypes.c_char_p, "void*": ctypes.c_void_p,
    "const void*": ctypes.c_void_p,
    "qrt_pool*": ctypes.c_void_p, "qrt_parallel_fn": ctypes.c_void_p, "const float*": ctypes.POINTER(ctypes.c_float),
    "const int32_t*": ctypes.POINTER(ctypes.c_int32), "char[512]": ctypes.c_char * 512,
    "const int64_t*": ctypes.POINTER(ctypes.c_int64), "int64_t": ctypes.c_int64,
    "const qrt_quantization*": ctypes.POINTER(_library.Quantization), "qrt_layout": ctypes.c_int,
    "const qrt_dim*": ctypes.POINTER(_library.Dim), "const size_t*": ctypes.POINTER(ctypes.c_size_t),
    "qrt_allocate_fn": ctypes.c_void_p, "qrt_release_fn": ctypes.c_void_p, "qrt_log_fn": ctypes.c_void_p, "qrt_status": ctypes.c_int, "unsigned": ctypes.c_uint,
    "const char* const*": ctypes.POINTER(ctypes.c_char_p), "void": None,
}


def enum(name):
    body = re.search(r"typedef enum %s \{(.*?)\}" % name, HEADER, re.DOTALL).group(1)
    return {m[0]: int(m[1]) for m in re.findall(r"(\w+) = (\d+)", body)}


class HeaderTest(unittest.TestCase):

    def test_structs(self):
        for name, struct in (("qrt_error", _library.ErrorMessage),
                             ("qrt_quantization", _library.Quantization),
                             ("qrt_dim", _library.Dim),
                             ("qrt_dim_info", _library.DimInfo),
                             ("qrt_tensor_info", _library.TensorInfo),
                             ("qrt_load_options", _library.LoadOptions),
                             ("qrt_model_info", _library.ModelInfo),
                             ("qrt_session_info", _library.SessionInfo),
                             ("qrt_session_options", _library.SessionOptions),
                             ("qrt_op_info", _library.OpInfo)):
            body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), HEADER, re.DOTALL)
            fields = [(kind, field.strip(), size) for kind, names, size in re.findall(
                r"([\w\s]+?[\s*]+(?:const\*\s*)?)(\w+(?:, \w+)*)(\[\w+\])?;", body.group(1)) for field in names.split(",")]
            declared = [(field, C_TYPES[" ".join(kind.split()) + size]) for kind, field, size in fields]
            self.assertEqual(declared, list(struct._fields_), name)

    def test_functions(self):
        declarations = dict((m[1], (m[0], m[2])) for m in re.findall(
            r"QRT_API ([\w\s]+?[\s*]+)(qrt_\w+)\(([^()]*)\);", HEADER))
        for name, (result, arguments) in _library.FUNCTIONS.items():
            self.assertIn(name, declarations)
            c_result, c_arguments = declarations[name]
            self.assertEqual(C_TYPES[" ".join(c_result.split())], result, name)
            count = 0 if c_arguments == "void" else len(c_arguments.split(","))
            self.assertEqual(count, len(arguments), name)

    def test_numbers(self):
        self.assertEqual([n.lower()[4:] for n in enum("qrt_dtype")], [t.name for t in _types.DTYPES])
        self.assertEqual(list(enum("qrt_dtype").values()), list(range(len(_types.DTYPES))))
        status = enum("qrt_status")
        self.assertEqual([n[4:] for n in status], list(_library.STATUS_NAMES))
        self.assertEqual(list(status.values())[1:], list(_errors._BY_STATUS))
        self.assertIn("QRT_LOAD_COPY = %d" % _library.LOAD_COPY, HEADER)
        self.assertIn("QRT_LOAD_CHECK = %d" % _library.LOAD_CHECK, HEADER)
        self.assertIn("#define QRT_MAX_RANK %d" % _library.MAX_RANK, HEADER)
        self.assertIn("#define QRT_BUFFER_ALIGNMENT %d" % _buffers.ALIGNMENT, HEADER)
        self.assertIn("#define QRT_BUFFER_PADDING %d" % _buffers.PADDING, HEADER)

    def test_version(self):
        numbers = re.findall(r"#define QRT_VERSION_\w+ (\d+)", HEADER)
        self.assertEqual(".".join(numbers), qrt.__version__)

    def test_what_the_package_does_not_offer(self):
        """New functions of the header are seen here: bind them, or say why not."""
        not_bound = set(re.findall(r"\b(qrt_\w+)\(", HEADER)) - set(_library.FUNCTIONS)
        self.assertEqual(not_bound, {
            "qrt_status_name", "qrt_dtype_name", "qrt_dtype_size",  # tables of the package
            # Through the session's memory.
            "qrt_session_set_input", "qrt_session_get_output", "qrt_session_set_input_bytes",
            "qrt_session_get_output_bytes",
            "qrt_struct_init", "qrt_struct_init_size",  # as _Sized does
            # Python makes a session to learn what it takes.
            "qrt_session_needed_memory",
            # Lists and dictionaries of the package have them.
            "qrt_version_number", "qrt_model_find_input", "qrt_model_find_output", "qrt_session_find_state",
            "qrt_model_load_fd",
        } - set(_library.FUNCTIONS))


if __name__ == "__main__":
    unittest.main()
