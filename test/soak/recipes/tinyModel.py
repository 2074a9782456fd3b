# Where torch, transformers and peft are installed: makes a base model of two layers and an adapter with random values in a folder,
# and prints how the base model alone answers each question of the rows, so that the recipe's answers can be compared with it.
import json
import sys

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

base, adapter, rows = sys.argv[1:]
torch.manual_seed(1)
words = {word: at for at, word in enumerate(["<unk>", "</s>", *map(chr, range(32, 127))])}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
tokenizer.decoder = decoders.Fuse()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")
fast.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), eos_token_id=1, **sizes))
model.save_pretrained(base)
fast.save_pretrained(base)
options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
for row in map(json.loads, open(rows, encoding="utf-8")):
    inputs = fast.apply_chat_template(row["messages"][:-1], **options)
    output = model.generate(**inputs, max_new_tokens=1024, do_sample=False)
    print(json.dumps(fast.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)))
trained = get_peft_model(model, LoraConfig(r=4, lora_alpha=64, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
trained.save_pretrained(adapter)
