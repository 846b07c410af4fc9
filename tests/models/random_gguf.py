"""A GGUF file with random weights and another file's tokenizer."""
import gguf
import numpy as np


class RandomGguf:
    """Wraps gguf-py's writer. The same seed and calls give the same bytes."""

    def __init__(self, path, architecture, tokenizer, seed):
        self.w = gguf.GGUFWriter(path, architecture)
        self.rng = np.random.default_rng(seed)
        self.tokenizer = gguf.GGUFReader(tokenizer)

    def field(self, name):
        return self.tokenizer.fields[name].contents()

    def add_tokenizer(self, pre):
        """Copies the byte-pair tokenizer; gives the number of tokens."""
        tokens = self.field("tokenizer.ggml.tokens")
        self.w.add_tokenizer_model("gpt2")
        self.w.add_tokenizer_pre(pre)
        self.w.add_token_list(tokens)
        self.w.add_token_types(list(self.field("tokenizer.ggml.token_type")))
        self.w.add_token_merges(self.field("tokenizer.ggml.merges"))
        self.w.add_eos_token_id(self.field("tokenizer.ggml.eos_token_id"))
        return len(tokens)

    def matrix(self, name, *shape, std=None):
        """A matrix rounded to BF16, so that the file holds exactly what the golden values come from."""
        values = self.rng.standard_normal(shape) * (std or shape[-1] ** -0.5)
        bits = values.astype(np.float32).view(np.uint32)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        kind = gguf.GGMLQuantizationType.BF16
        self.w.add_tensor(name, rounded.view(np.uint8), raw_dtype=kind)

    def vector(self, name, *shape, std=0.1, mean=0.0):
        """An f32 tensor."""
        values = self.rng.standard_normal(shape) * std + mean
        self.w.add_tensor(name, values.astype(np.float32))

    def close(self):
        self.w.write_header_to_file()
        self.w.write_kv_data_to_file()
        self.w.write_tensors_to_file()
        self.w.close()
