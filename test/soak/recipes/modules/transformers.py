# Stands in for transformers where it isn't installed: a tokenizer of characters, and a base model that speaks.
class Tokens(list):
    def __getitem__(self, at):
        return Tokens(self[at[0]])[at[1]] if isinstance(at, tuple) else list.__getitem__(self, at)

    @property
    def shape(self):
        return len(self), len(self[0])


class Inputs(dict):
    def to(self, device):
        assert device == "here"
        return self


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name, revision=None):
        return AutoTokenizer()

    def apply_chat_template(self, messages, tools, add_generation_prompt, return_tensors, return_dict, enable_thinking=True):
        assert (add_generation_prompt, return_tensors, return_dict) == (True, "pt", True)
        assert tools is None or isinstance(tools, list)
        # As templates do, it takes arguments that are values.
        for call in (call for message in messages for call in message.get("tool_calls", [])):
            assert isinstance(call["function"]["arguments"], dict)
        if messages[-1]["content"] == "4+4?":
            raise ValueError("The template takes no such row.")
        return Inputs(input_ids=Tokens([[ord(c) for c in messages[-1]["content"]]]))

    def decode(self, tokens, skip_special_tokens):
        assert skip_special_tokens
        return "".join(map(chr, tokens))


class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name, revision=None, dtype=None, device_map=None):
        return AutoModelForCausalLM()
