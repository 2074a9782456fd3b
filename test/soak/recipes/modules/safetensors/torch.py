# Stands in for safetensors where PyTorch isn't installed: a tensor is its type, shape and bytes.
import json
import struct


def load_file(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    body = data[8 + length :]
    return {
        name: (one["dtype"], one["shape"], body[slice(*one["data_offsets"])]) for name, one in header.items()
    }


def save_file(tensors, path, metadata):
    header, body = {"__metadata__": metadata}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
