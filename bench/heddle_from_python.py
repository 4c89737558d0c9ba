"""Heddle's C API (heddle/c.h) from Python, as far as a comparison needs it: compile a mask, run it on tensors of float32."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p, sizeof

INT, FLOAT = 0, 2  # DLDataTypeCode
CPU = 1  # DLDeviceType
TABLE = 4  # heddle_parameter_kind


class DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int), ("device_id", c_int), ("ndim", c_int), ("dtype", DataType),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class EngineOptions(Structure):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("no_disk_cache", c_int), ("cache_dir", c_char_p), ("cache_bytes", c_int64),
                ("target", c_char_p)]


class Parameter(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("integer", c_int64), ("real", c_double), ("element", DataType)]


class Spec(Structure):
    _fields_ = [("size", c_size_t), ("mask", c_char_p), ("score", c_char_p), ("parameters", POINTER(Parameter)),
                ("parameter_count", c_size_t), ("head_dim", c_int64), ("value_dim", c_int64), ("lse", c_int)]


class Table(Structure):
    _fields_ = [("name", c_char_p), ("tensor", POINTER(Tensor))]


class BindOptions(Structure):
    _fields_ = [("size", c_size_t), ("tables", POINTER(Table)), ("table_count", c_size_t), ("values", c_void_p), ("value_count", c_size_t),
                ("batch", c_int64), ("heads", c_int64), ("kv_heads", c_int64), ("sq", c_int64), ("sk", c_int64)]


class LaunchOptions(Structure):
    _fields_ = [("size", c_size_t), ("scale", POINTER(c_double)), ("values", c_void_p), ("value_count", c_size_t),
                ("tables", POINTER(Table)), ("table_count", c_size_t), ("binding", c_void_p)]


def view(tensor, code, bits):
    """A dense torch tensor as a DLTensor; the tensor must outlive it."""
    shape = (c_int64 * tensor.dim())(*tensor.shape)
    return Tensor(tensor.data_ptr(), CPU, 0, tensor.dim(), DataType(code, bits, 1), shape, None, 0)


class Heddle:
    """An engine of `threads` threads without a disk cache."""

    def __init__(self, path, threads):
        self.library = ctypes.CDLL(path)
        self.library.heddle_last_error.restype = c_char_p
        options = EngineOptions(size=sizeof(EngineOptions), threads=threads, no_disk_cache=1)
        self.engine = c_void_p()
        self.call("heddle_engine_create", byref(options), byref(self.engine))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.library.heddle_last_error().decode()}")

    def attention(self, mask, shape, tables):
        """A function of (q, k, v, o) for tensors of this shape; `tables`: int32 tensors that the mask reads, by name."""
        parameters = (Parameter * max(1, len(tables)))(*(Parameter(name.encode(), TABLE, 0, 0, DataType(INT, 32, 1)) for name in tables))
        spec = Spec(sizeof(Spec), mask.encode() if mask else None, None, parameters, len(tables), shape[3], 0, 0)
        attention, launch = c_void_p(), LaunchOptions(size=sizeof(LaunchOptions))
        self.call("heddle_attention_create", self.engine, byref(spec), byref(attention))
        if tables:
            launch.binding = self.bind(attention, shape, tables)

        def run(q, k, v, o):
            views = [view(one, FLOAT, 32) for one in (q, k, v, o)]
            self.call("heddle_attention_run", attention, *(byref(one) for one in views), None, byref(launch))

        return run

    def bind(self, attention, shape, tables):
        views = [view(one, INT, 32) for one in tables.values()]
        entries = (Table * len(tables))(*(Table(name.encode(), ctypes.pointer(one)) for name, one in zip(tables, views)))
        _, heads, length, _ = shape
        options = BindOptions(sizeof(BindOptions), entries, len(tables), None, 0, 1, heads, heads, length, length)
        binding = c_void_p()
        self.call("heddle_attention_bind", attention, byref(options), byref(binding))
        return binding
