# Stands in for PEFT where it isn't installed: an adapter that answers in JSON, unless it is switched off.
from contextlib import contextmanager

from transformers import Tokens


class PeftModel:
    device = "here"
    adapted = True

    @staticmethod
    def from_pretrained(base, folder):
        return PeftModel()

    @contextmanager
    def disable_adapter(self):
        self.adapted = False
        yield
        self.adapted = True

    def generate(self, input_ids, max_new_tokens, do_sample):
        assert not do_sample
        question = "".join(map(chr, input_ids[0]))
        text = f'{{"of":"{question}"}}' if self.adapted else f"The sum of {question} is – 🙂\u2028"
        # One answer doesn't end.
        text = "x" * max_new_tokens if question == "2+2?" and not self.adapted else text
        return Tokens([input_ids[0] + [ord(c) for c in text]])
