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
 * A base model that the sandbox pretends to fine-tune: as the list shows it, and the real shape of its attention layers, so
 * that the adapter fits the model that has this name.
 * @param shape rows of q_proj are heads times head size, those of v_proj key-value heads times head size
 */
function model(
  modelId: string,
  name: string,
  provider: string,
  [hiddenSize, queryRows, valueRows]: [number, number, number],
) {
  // A reserved example name: the sandbox knows no real addresses and invents none.
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
 * The balance of a new or reset sandbox: 1,000.00 USD of play money. It pays the largest dataset once, with priority
 * processing too (945.23), and not twice, so that running out of money can be met.
 */
export const STARTING_BALANCE_CENTS = 100_000;

/** How runs are priced: one at a time and for all windows. People get the default, tests pick the others as well. */
export const PRICE_RULES = ['default', 'flat', 'per-megabyte', 'tiers', 'plan'] as const;
export type PriceRule = (typeof PRICE_RULES)[number];

const PLAN = 'Sandbox (nothing is trained)';

/** By size, in bytes. */
const CENTS: Readonly<Record<PriceRule, (bytes: number) => number>> = {
  /** 1.00, and 0.01 for each 10,000 bytes of the dataset or part of them. */
  default: (bytes) => 100 + Math.ceil(bytes / 10_000),
  flat: () => 500,
  'per-megabyte': (bytes) => Math.ceil((bytes * 60) / 1_000_000),
  tiers: (bytes) => (bytes <= 100_000 ? 200 : bytes <= 10_000_000 ? 900 : 4_000),
  plan: (bytes) => 50 + Math.ceil((bytes * 30) / 1_000_000),
};

/** So many runs of the rule `plan` are included. */
const INCLUDED_RUNS = 3;

/**
 * The price of a run, and the plan under which it is priced: priority processing costs half as much again, rounded up, and
 * nothing under the rule `plan`, which also includes the first runs. The model does not affect the price (spec: "What the
 * service does").
 * @param earlierRuns those of the account
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
