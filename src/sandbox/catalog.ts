/** All models of the sandbox. One is unavailable, and the models of one provider have no use policy. */
export const MODELS: readonly ReturnType<typeof model>[] = [
  model('llama-3.1-8b-instruct', 'Llama 3.1 8B Instruct', 'Meta', [4096, 4096, 1024]),
  model('llama-3.2-1b-instruct', 'Llama 3.2 1B Instruct', 'Meta', [2048, 2048, 512]),
  model('mistral-7b-instruct-v0.3', 'Mistral 7B Instruct v0.3', 'Mistral AI', [4096, 4096, 1024]),
  model('mistral-nemo-12b-instruct', 'Mistral Nemo 12B Instruct', 'Mistral AI', [5120, 4096, 1024]),
  model('qwen2.5-7b-instruct', 'Qwen2.5 7B Instruct', 'Alibaba Cloud', [3584, 3584, 512]),
  model('qwen3-8b', 'Qwen3 8B', 'Alibaba Cloud', [4096, 4096, 1024]),
  model('gemma-2-2b-it', 'Gemma 2 2B IT', 'Google', [2304, 2048, 1024]),
  model('gemma-2-9b-it', 'Gemma 2 9B IT', 'Google', [3584, 4096, 2048]),
];

export function findModel(modelId: string) {
  return MODELS.find(({ listed }) => listed.model_id === modelId);
}

/**
 * Returns a model's list entry, and the real shapes of its attention layers, so that the adapter fits. `queryRows` of
 * q_proj: heads × head size. `valueRows` of v_proj: key-value heads × head size.
 */
function model(
  modelId: string,
  name: string,
  provider: string,
  [hiddenSize, queryRows, valueRows]: [number, number, number],
) {
  // A reserved example domain: the sandbox must not invent real addresses.
  const page = (name: string) => `https://models.example/${modelId}/${name}`;
  const listed = {
    model_id: modelId,
    name,
    provider,
    available: modelId !== 'gemma-2-9b-it',
    terms_url: page('terms'),
    use_policy_url: provider === 'Mistral AI' ? null : page('use-policy'),
  };
  return { listed, shape: { hiddenSize, queryRows, valueRows } };
}

/** Currency of every price and of the balance. */
export const CURRENCY = 'USD';

/**
 * Play money of a new or reset sandbox. It covers the largest dataset with priority processing (945.23 USD) once
 * but not twice, so that users can try running out of money.
 */
export const STARTING_BALANCE_CENTS = 100_000;

/** Returns the price of a run and its plan. The model doesn't affect it (spec: "What the service does"). */
export type PriceOf = (datasetBytes: number, priority: boolean) => { cents: number; plan: string };

/** 1.00 plus 0.01 for each 10,000 bytes or part of them; priority processing adds half, rounded up. */
export const defaultPrice: PriceOf = (datasetBytes, priority) => {
  const cents = 100 + Math.ceil(datasetBytes / 10_000);
  return { cents: priority ? Math.ceil((cents * 3) / 2) : cents, plan: 'Sandbox (nothing is trained)' };
};
