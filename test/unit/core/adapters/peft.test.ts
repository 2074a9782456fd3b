import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { recipesOf } from '../../../../src/core/adapters/recipes.ts';
import type { AdapterReport } from '../../../../src/core/adapters/report.ts';
import { tensor, writeTensors } from '../../../helpers/adapters/safetensorsWriter.ts';
import { Place, zipOf } from '../../../helpers/adapters/support.ts';

/** What `makePeft.py` wrote about an adapter. */
interface Saved {
  name: string;
  /** What PEFT says when it loads the adapter on the published base model. */
  peft: 'loads' | 'missing keys' | 'size mismatch' | "'lora'";
  /** If it loads: whether switching the adapter off leaves the base as it was, and whether PEFT can merge it. */
  leavesBase?: boolean;
  merges?: boolean;
  config: Record<string, unknown>;
  tensors: Record<string, number[]>;
}

const FILE = new URL('../../../fixtures/adapters/peft-0.21.jsonl', import.meta.url);
const SAVED = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Saved);

const Q0 = 'model.layers.0.self_attn.q_proj';
/** Problems by the name of the adapter; all others have none. */
const PROBLEMS: Readonly<Record<string, string>> = {
  'DoRA of embeddings': 'info embeddings-saved 64',
  'DoRA of another length': 'error magnitude-mismatch model.layers.1.self_attn.v_proj',
  'lora_bias unnamed': `error lora-bias-ignored base_model.model.${Q0}.lora_B.bias`,
  'lower case': 'error peft-type-case lora',
  'layer dropped': 'info layer-without-weights model.layers.1.self_attn.q_proj',
  'module dropped': 'info layer-without-weights model.layers.1.self_attn.v_proj',
  'compiled base': `error names-wrapped base_model.model._orig_mod.${Q0}.lora_A.weight`,
  'compiled adapter': `error names-wrapped _orig_mod.base_model.model.${Q0}.lora_A.weight`,
  'base replaced': 'warning base-replaced model.layers.0.mlp.up_proj',
  'one layer pruned': 'warning width-differs model.layers.2.mlp.down_proj',
  'union list': 'info target-without-weights c_attn',
  'target dropped': 'info target-without-weights v_proj',
  'embeddings resized': 'warning embeddings-resized 72',
  'embeddings resized, rows trained': 'warning embeddings-resized 72',
  'embeddings resized, saved': 'info embeddings-saved 72',
  'embeddings saved': 'info embeddings-saved 64',
  'embeddings adapted': 'info embeddings-saved 64',
  'embeddings tied': 'info embeddings-saved 64',
  head: 'info embeddings-saved 64',
  vision: 'info base-vision ',
  'prompt tuning': 'warning not-lora PROMPT_TUNING',
  IA3: 'warning not-lora IA3',
  LoHa: 'warning not-lora LOHA',
  OFT: 'warning not-lora OFT',
  'trainable tokens': 'warning not-lora TRAINABLE_TOKENS',
};
/** Base models that were pruned in many layers, or have layers of several kinds, can't be told from mistakes. */
const NOT_SEEN: readonly string[] = ['two layers pruned'];
/** PEFT loads it without a word, and without its biases. */
const LOADS_WRONG = 'lora_bias unnamed';

describe('inspectAdapter, compared with PEFT', () => {
  const place = new Place();
  const inspect = ({ config, tensors }: Saved): Promise<AdapterReport> =>
    place.inspect(
      zipOf({
        'adapter_config.json': Buffer.from(JSON.stringify(config)),
        'adapter_model.safetensors': writeTensors(
          Object.entries(tensors).map(([name, shape]) => tensor(name, shape)),
        ),
      }),
    );

  for (const saved of SAVED)
    it(`${saved.name}: PEFT says “${saved.peft}”`, async () => {
      const report = await inspect(saved);
      const { verdict, problems } = report;
      assert.equal(verdict.code, 'adapter');
      assert.equal(
        problems
          .map(({ severity, code, examples, actual }) => `${severity} ${code} ${examples[0] ?? actual ?? ''}`)
          .join('; '),
        PROBLEMS[saved.name] ?? '',
      );
      if (saved.peft === 'loads')
        assert.ok(problems.every(({ severity }) => severity !== 'error') || saved.name === LOADS_WRONG);
      else assert.ok(problems.length > 0 || NOT_SEEN.includes(saved.name));
      const [peft] = recipesOf(report, { folder: '/a', platform: 'linux' }).tools;
      assert.equal(
        peft === undefined,
        problems.some(({ severity }) => severity === 'error'),
      );
      if (saved.merges === undefined || saved.config['peft_type'] !== 'LORA' || peft === undefined) return;
      const offers = (what: string) => peft.blocks.some(({ purpose }) => purpose === what);
      assert.deepEqual([offers('compare'), offers('merge')], [saved.leavesBase, saved.merges]);
    });

  it('names the layer and the module whose width differs', async () => {
    const { problems } = await inspect(SAVED.find(({ name }) => name === 'one layer pruned')!);
    assert.deepEqual([problems[0]?.layer, problems[0]?.module, problems[0]?.count], [2, 'down_proj', 1]);
  });
});
