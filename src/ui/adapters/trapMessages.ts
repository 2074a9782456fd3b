import * as vscode from 'vscode';
import type { TrapCode } from '../../core/adapters/report.ts';

/**
 * A known trap, and how it is avoided.
 * @param baseModel as the config names it
 */
export function trapSentence(trap: TrapCode, baseModel?: string): string {
  const { l10n } = vscode;
  switch (trap) {
    case 'same-base':
      return l10n.t(
        'The base must be the very model that was trained on. On another one the adapter loads, and answers nonsense.',
      );
    case 'base-unknown':
      return baseModel === undefined || baseModel === ''
        ? l10n.t(
            'Which model was trained on is not known from the config. Put in the one that you chose for the run.',
          )
        : l10n.t(
            'The config calls the model that was trained on “{0}”, which is no name of a repository on the Hugging Face Hub. Put the name of its repository in place of BASE_MODEL.',
            baseModel,
          );
    case 'base-gated':
      return l10n.t(
        'Some base models can be downloaded only after you accepted their terms, with a token of the hub that holds them.',
      );
    case 'chat-template':
      return l10n.t(
        'Ask it in the form in which it was trained: the same roles and the chat template of the base’s tokenizer.',
      );
    case 'pooling-unknown':
      return l10n.t(
        'How hidden states become one vector is not in the config. Pool them as the training did.',
      );
    case 'task-assumed':
      return l10n.t(
        'The config names no task that is known here (task_type). The commands assume that the adapter generates text (CAUSAL_LM).',
      );
    case 'other-task':
      return l10n.t('Its task (task_type) is another than CAUSAL_LM. Load it with PEFT.');
    case 'peft-base-repeated':
      return l10n.t(
        'Training began by changing the base’s own weights (PiSSA, OLoRA). PEFT changes them again when it loads the adapter, which can take minutes: give it the original base, not quantized, and leave init_lora_weights in the config as it is.',
      );
    case 'peft-base-nearly':
      return l10n.t(
        'Training began by changing the base’s own weights (PiSSA with its quick method). PEFT changes them again when it loads the adapter, but that method is partly random: the model is close to the one that was trained, not the same. For the same one, ask for the adapter saved with path_initial_model_for_weight_conversion.',
      );
    case 'peft-base-quantized':
      return l10n.t(
        'Training began by quantizing the base’s weights (LoftQ). PEFT does so again when it loads the adapter, with bitsandbytes on a GPU: give it the original base, not quantized.',
      );
    case 'base-changed':
      return l10n.t(
        'Training began by changing the base’s own weights (PiSSA, OLoRA or LoftQ). This tool takes the base as it is published: some versions refuse, others answer wrongly without a word. Merge the adapter into the base with PEFT, which changes the base again as it was.',
      );
    case 'base-change-lost':
      return l10n.t(
        'Training began by changing the base’s own weights in a way that is not in these files (CorDA, LoRA-GA). On the base as it is published the adapter is refused, or answers wrongly without a word. Ask whoever trained it to save it with PEFT’s path_initial_model_for_weight_conversion, which makes a plain LoRA adapter of it.',
      );
    case 'init-unknown':
      return l10n.t(
        'The config names a way to begin the training that is not known here (init_lora_weights). If it changes the base’s weights, as PiSSA does, the adapter answers wrongly on the base as it is published.',
      );
    case 'alora-tokens':
      return l10n.t(
        'This is an Activated LoRA (aLoRA): it acts only from its invocation tokens on (alora_invocation_tokens in the config). If the prompt does not hold them, the base answers, as if nothing had been trained.',
      );
    case 'vllm-alora':
      return l10n.t(
        'This is an Activated LoRA (aLoRA). Recent versions of vLLM refuse it; older ones let it change the whole prompt, without a word. It cannot be merged either: use PEFT.',
      );
    case 'llamacpp-alora':
      return l10n.t(
        'Convert it and serve it with a llama.cpp from 2026 or later. Older ones may leave the invocation tokens out, so that the adapter changes the whole prompt, without a word.',
      );
    case 'ollama-alora':
      return l10n.t(
        'This is an Activated LoRA (aLoRA), which can’t be merged, and Ollama takes only merged models. Use PEFT, or llama-server of llama.cpp.',
      );
    case 'layers-repeated':
      return l10n.t(
        'The adapter is for a stack in which layers of the base are repeated (layer_replication), so that its layers are not those of the base’s file. Only PEFT builds that stack; it cannot be merged either.',
      );
    case 'vllm-rank':
      return l10n.t(
        'vLLM refuses adapters with a rank above --max-lora-rank, which is 16 unless told. The command sets it.',
      );
    case 'vllm-rank-too-large':
      return l10n.t('The rank is above the largest that vLLM takes.');
    case 'vllm-modules-to-save':
      return l10n.t(
        'vLLM does not load modules that are stored whole (modules_to_save). Merge the adapter into the base with PEFT, and serve the result.',
      );
    case 'vllm-dora':
      return l10n.t(
        'vLLM does not load DoRA. Merge the adapter into the base with PEFT, and serve the result.',
      );
    case 'vllm-patterns':
      return l10n.t(
        'Rank or alpha differ between the modules of this adapter (rank_pattern, alpha_pattern). Only recent versions of vLLM heed that; older ones load it too strong or too weak, without a word.',
      );
    case 'vllm-bias':
      return l10n.t('vLLM does not load biases of an adapter.');
    case 'vllm-not-on-windows':
      return l10n.t(
        'vLLM runs on Linux. On Windows, run it inside WSL, where this folder stands below /mnt.',
      );
    case 'vllm-model-name':
      return l10n.t(
        'A request gets the adapter only if its “model” is the adapter’s name. With the base’s name the base answers, as if nothing had been trained.',
      );
    case 'llamacpp-base-config':
      return l10n.t(
        'The converter fetches the config of the base model from the hub, not its weights. If you have the model on disk, put --base and its folder in the place of --base-model-id.',
      );
    case 'llamacpp-same-architecture':
      return l10n.t(
        'The GGUF of the base must be of the same model. A GGUF adapter does not load on another architecture.',
      );
    case 'llamacpp-modules-to-save':
      return l10n.t(
        'The converter does not take modules that are stored whole (modules_to_save). Merge the adapter into the base with PEFT, and convert the result.',
      );
    case 'llamacpp-dora':
      return l10n.t(
        'The converter does not take DoRA. Merge the adapter into the base with PEFT, and convert the result.',
      );
    case 'converter-environment':
      return l10n.t(
        'Install the converter’s packages into a Python environment of their own: they bring versions of torch and transformers that may replace those of PEFT or vLLM.',
      );
    case 'converter-bias':
      return l10n.t(
        'The converter does not take biases (bias, lora_bias). Merge the adapter into the base with PEFT, and convert the result.',
      );
    case 'converter-turned':
      return l10n.t(
        'The base’s weights are stored turned (fan_in_fan_out, as GPT-2’s are), and the converter turns the adapter, too: it is refused, or acts wrongly without a word. Merge it into the base with PEFT, and convert the result.',
      );
    case 'gguf-alpha-zero':
      return l10n.t(
        'The alpha is 0, so that the adapter has no effect as it was trained. llama.cpp takes 0 as “not told” and loads it at full strength.',
      );
    case 'ollama-merged':
      return l10n.t(
        'Current versions of Ollama refuse adapters (ADAPTER in a Modelfile), so the adapter is merged into its base model. That needs enough memory for the base model, and disk space for two more copies of it.',
      );
    case 'ollama-template':
      return l10n.t(
        'Ollama recognizes the chat templates of many models. If the answers look wrong, set TEMPLATE in the Modelfile to the one of the base’s tokenizer.',
      );
    case 'ollama-architecture':
      return l10n.t(
        'The converter and Ollama have to support the base model’s architecture. Recent versions of both support the most.',
      );
    case 'rslora':
      return l10n.t(
        'The adapter uses rsLoRA, and this tool scales by alpha ÷ rank, which makes it weaker than it was trained. Merge the adapter into the base with PEFT first.',
      );
    case 'alpha-pattern':
      return l10n.t(
        'Some modules have an alpha of their own (alpha_pattern), and this tool takes one for all, so it would load them too strong or too weak. Merge the adapter into the base with PEFT first.',
      );
    case 'llamacpp-scale-corrected':
      return l10n.t(
        'llama.cpp scales by alpha ÷ rank alone, which is not how this adapter was trained (rsLoRA or alpha_pattern). The command already corrects that with --lora-scaled: keep it.',
      );
    case 'config-missing':
      return l10n.t('It reads adapter_config.json, which is missing.');
  }
}
