/** A base model that the sandbox pretends to fine-tune. */
interface SandboxModel {
  /** As the model list shows it. */
  listed: {
    model_id: string;
    name: string;
    provider: string;
    available: boolean;
    terms_url: string;
    use_policy_url: string | null;
  };
  /** The real shape of its attention layers, so that the adapter fits the model that has this name. */
  shape: AttentionShape;
}

export interface AttentionShape {
  hiddenSize: number;
  /** Rows of q_proj: heads times head size. */
  queryRows: number;
  /** Rows of v_proj: key-value heads times head size. */
  valueRows: number;
}

/** All models of the sandbox: one is unavailable, and one provider has no use policy. */
export const MODELS: readonly SandboxModel[] = [
  model('llama-3.1-8b-instruct', 'Llama 3.1 8B Instruct', 'Meta', [4096, 4096, 1024]),
  model('llama-3.2-1b-instruct', 'Llama 3.2 1B Instruct', 'Meta', [2048, 2048, 512]),
  model('mistral-7b-instruct-v0.3', 'Mistral 7B Instruct v0.3', 'Mistral AI', [4096, 4096, 1024]),
  model('mistral-nemo-12b-instruct', 'Mistral Nemo 12B Instruct', 'Mistral AI', [5120, 4096, 1024]),
  model('qwen2.5-7b-instruct', 'Qwen2.5 7B Instruct', 'Alibaba Cloud', [3584, 3584, 512]),
  model('qwen3-8b', 'Qwen3 8B', 'Alibaba Cloud', [4096, 4096, 1024]),
  model('gemma-2-2b-it', 'Gemma 2 2B IT', 'Google', [2304, 2048, 1024]),
  model('gemma-2-9b-it', 'Gemma 2 9B IT', 'Google', [3584, 4096, 2048]),
];

export function findModel(modelId: string): SandboxModel | undefined {
  return MODELS.find(({ listed }) => listed.model_id === modelId);
}

function model(
  modelId: string,
  name: string,
  provider: string,
  [hiddenSize, queryRows, valueRows]: [number, number, number],
): SandboxModel {
  // A reserved example name: the sandbox knows no real addresses and invents none.
  const page = (name: string) => `https://models.example/${modelId}/${name}`;
  return {
    listed: {
      model_id: modelId,
      name,
      provider,
      available: modelId !== 'gemma-2-9b-it',
      terms_url: page('terms'),
      use_policy_url: provider === 'Mistral AI' ? null : page('use-policy'),
    },
    shape: { hiddenSize, queryRows, valueRows },
  };
}

/** Currency of every price and of the balance. */
export const CURRENCY = 'USD';

/** The plan under which all runs are priced. It includes no priority processing. */
export const PLAN_NAME = 'Sandbox (nothing is trained)';

/**
 * The balance of a new or reset sandbox: 1,000.00 USD of play money. It pays the largest dataset once, with priority
 * processing too (945.23), and not twice, so that running out of money can be met.
 */
export const STARTING_BALANCE_CENTS = 100_000;

const BASE_CENTS = 100;
const BYTES_PER_CENT = 10_000;

/**
 * The price of a run in cents: 1.00, and 0.01 for each 10,000 bytes of the dataset or part of them; with priority
 * processing half as much again, rounded up. The model does not affect the price (spec: "What the service does").
 */
export function priceCents(datasetBytes: number, priority: boolean): number {
  const cents = BASE_CENTS + Math.ceil(datasetBytes / BYTES_PER_CENT);
  return priority ? Math.ceil((cents * 3) / 2) : cents;
}
