/** All models of the sandbox: one is unavailable, and one provider has no use policy. */
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
 * Returns a model's list entry and the real shapes of its attention layers, which make the adapter fit the real
 * model: q_proj has heads times head size rows, v_proj key-value heads times head size.
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

/** Pricing rules, of which one applies to all windows. Users get the default; the others are for tests. */
export const PRICE_RULES = ['default', 'flat', 'per-megabyte', 'tiers', 'plan'] as const;
export type PriceRule = (typeof PRICE_RULES)[number];

const PLAN = 'Sandbox (nothing is trained)';

/** Price in cents by dataset size in bytes. */
const CENTS: Readonly<Record<PriceRule, (bytes: number) => number>> = {
  /** 1.00 plus 0.01 per started 10,000 bytes of the dataset. */
  default: (bytes) => 100 + Math.ceil(bytes / 10_000),
  flat: () => 500,
  'per-megabyte': (bytes) => Math.ceil((bytes * 60) / 1_000_000),
  tiers: (bytes) => (bytes <= 100_000 ? 200 : bytes <= 10_000_000 ? 900 : 4_000),
  plan: (bytes) => 50 + Math.ceil((bytes * 30) / 1_000_000),
};

/** Number of runs that the rule `plan` includes. */
const INCLUDED_RUNS = 3;

/**
 * Returns the price of a run and its plan. Priority processing adds half of the price, rounded up, except under
 * `plan`, which also includes the first runs. The model doesn't affect the price (spec: "What the service does").
 */
export function priceOf(
  rule: PriceRule,
  datasetBytes: number,
  priority: boolean,
  earlierRuns: number,
): { cents: number; plan: string } {
  const cents = CENTS[rule](datasetBytes);
  if (rule === 'plan') return { cents: earlierRuns < INCLUDED_RUNS ? 0 : cents, plan: 'Sandbox Pro' };
  return { cents: priority ? Math.ceil((cents * 3) / 2) : cents, plan: PLAN };
}
