import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { AdapterProblem, AdapterProblemCode } from '../../../../src/core/adapters/problems.ts';
import { tensor, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import {
  adding,
  loraPair,
  PREFIX,
  sampleAdapter,
  type SampleOptions,
} from '../../../helpers/adapters/sampleAdapter.ts';
import { codesOf, Place, zipOf } from '../../../helpers/adapters/support.ts';

const CONFIG = 'adapter_config.json';
const Q0_PATH = 'model.layers.0.self_attn.q_proj';
const Q0 = PREFIX + Q0_PATH;
const UP = 'model.layers.0.mlp.up_proj';
const UP2 = `${PREFIX}model.layers.1.mlp.up_proj`;

const pair = (name: string, inputs = 2) => loraPair(name, [inputs, 2, 4]);

function config(values: Record<string, unknown>): SampleOptions {
  return { config: values };
}

function unprefixed(): SampleOptions {
  return compiled('');
}

function compiled(prefix: string): SampleOptions {
  return { tensors: (all) => all.map((one) => ({ ...one, name: prefix + one.name.slice(PREFIX.length) })) };
}

/** The magnitudes of the sample's modules. */
function magnitudes(...lengths: number[]): WrittenTensor[] {
  const names = [0, 1].flatMap((layer) => ['q', 'v'].map((one) => `layers.${layer}.self_attn.${one}_proj`));
  return names.map((name, at) => tensor(`${PREFIX}model.${name}.lora_magnitude_vector`, [lengths[at]!]));
}

describe('inspectAdapter, comparing config and tensors', () => {
  const place = new Place();

  const inspect = (options: SampleOptions) => place.inspect(zipOf(sampleAdapter(options)));
  const inspectConfig = async (text: string) =>
    await place.inspect(zipOf({ ...sampleAdapter(), [CONFIG]: Buffer.from(text) }));

  const head = { task_type: 'SEQ_CLS', modules_to_save: ['classifier', 'score'] };
  const wrongTypes = { r: '8', lora_alpha: true, target_modules: [1], rank_pattern: [], bias: 3 };
  const otherB = (shape: number[]) => ({
    tensors: ([a, , ...rest]: WrittenTensor[]) => [a!, tensor(`${Q0}.lora_B.weight`, shape), ...rest],
  });
  const cases: [AdapterProblemCode, SampleOptions, Partial<AdapterProblem>][] = [
    ['partner-missing', { tensors: (all) => all.slice(1) }, { severity: 'error', examples: [Q0_PATH] }],
    ['pair-mismatch', otherB([16, 3]), { expected: 4, actual: 3 }],
    ['names-wrapped', unprefixed(), { severity: 'error', count: 8 }],
    ['names-wrapped', compiled('base_model.model._orig_mod.'), { severity: 'error', count: 8 }],
    ['names-wrapped', compiled('_orig_mod.base_model.model.'), { severity: 'error', count: 8 }],
    ['rank-mismatch', config({ r: 8 }), { count: 4, expected: 8, actual: 4 }],
    ['rank-mismatch', config({ rank_pattern: { 'self_attn.q_proj': 2 } }), { count: 2, expected: 2 }],
    ['module-not-targeted', config({ target_modules: ['q_proj'] }), { count: 2 }],
    ['tensor-unexpected', adding('something.else'), { examples: ['something.else'] }],
    ['tensor-unexpected', adding(tensor(`${Q0}.lora_A.other.weight`, [4, 24])), { count: 1 }],
    ['saved-module-missing', config({ modules_to_save: ['x'] }), { examples: ['x'] }],
    ['saved-module-missing', config(head), { examples: ['classifier', 'score'] }],
    ['dora-mismatch', config({ use_dora: true }), { expected: 4, actual: 0 }],
    ['dora-mismatch', adding(`${Q0}.lora_magnitude_vector`), { expected: 0, actual: 1 }],
    [
      'magnitude-mismatch',
      { config: { use_dora: true }, ...adding(...magnitudes(16, 8, 16, 9)) },
      { severity: 'error', count: 1, examples: ['model.layers.1.self_attn.v_proj'] },
    ],
    ['lora-bias-ignored', adding(`${Q0}.lora_B.bias`), { severity: 'error' }],
    ['base-replaced', adding(`${PREFIX}${UP}.weight`), { severity: 'warning', count: 1, examples: [UP] }],
    ['base-replaced', adding(`${Q0}.base_layer.weight`, `${Q0}.bias`), { count: 1, examples: [Q0_PATH] }],
    ['base-replaced', { ...config({ bias: 'all' }), ...adding(`${Q0}.bias`, `${UP2}.weight`) }, { count: 1 }],
    ['alpha-missing', config({ lora_alpha: null }), {}],
    ['rank-missing', config({ r: null }), {}],
    ['base-model-missing', config({ base_model_name_or_path: null }), {}],
    ['base-model-is-path', config({ base_model_name_or_path: '/mnt/x' }), { actual: '/mnt/x' }],
    ['target-modules-missing', config({ target_modules: null }), {}],
    ['peft-type-missing', config({ peft_type: null }), {}],
    ['peft-type-case', config({ peft_type: 'lora' }), { severity: 'error', actual: 'lora' }],
    ['not-lora', config({ peft_type: 'IA3' }), { severity: 'warning', actual: 'IA3' }],
    [
      'config-wrong-type',
      config(wrongTypes),
      { count: 5, examples: ['r', 'lora_alpha', 'rank_pattern', 'target_modules', 'bias'] },
    ],
    ['base-changed', config({ init_lora_weights: 'pissa' }), { severity: 'warning', actual: 'pissa' }],
    ['base-changed', config({ init_lora_weights: 'corda' }), { severity: 'error' }],
  ];
  it('reports each mismatch with its count and examples', async () => {
    for (const [code, options, expected] of cases) {
      const { verdict, problems } = await inspect(options);
      assert.equal(verdict.code, 'adapter');
      const found = problems.find((problem) => problem.code === code);
      assert.ok(found, `${code}: ${JSON.stringify(problems)}`);
      assert.deepEqual({ ...found, ...expected }, found, code);
    }
  });

  it('accepts valid but unusual adapters', async () => {
    for (const options of [
      config({ target_modules: '.*_proj' }),
      config({ target_modules: 'all-linear' }),
      config({ target_modules: ['self_attn.q_proj', 'v_proj'] }),
      // Both parameters of one module.
      {
        ...config({ target_parameters: ['experts.gate_up_proj', 'experts.down_proj'], target_modules: [] }),
        tensors: () => [...pair('layers.0.experts.base_layer'), ...pair('layers.0.experts')],
      },
      // Experts as one parameter, whose rank is a multiple of the config's.
      config({ target_parameters: ['experts.down_proj'], target_modules: ['q_proj'], r: 2 }),
      config({ target_parameters: ['experts.down_proj'], target_modules: null }),
      config({ layers_to_transform: 1, more: { of: ['the future'] }, alora_invocation_tokens: [] }),
      { ...config({ bias: 'all', lora_bias: true }), ...adding(`${Q0}.bias`, `${Q0}.lora_B.bias`) },
      { ...config({ modules_to_save: ['mlp'] }), ...adding(`${PREFIX}${UP}.weight`, `${PREFIX}${UP}.bias`) },
      { ...config({ task_type: 'SEQ_CLS' }), ...adding(`${PREFIX}score.weight`) },
      { ...config({ use_dora: true }), ...adding(...magnitudes(16, 8, 16, 8)) },
      { dtype: 'BF16' },
    ] satisfies SampleOptions[])
      assert.deepEqual(codesOf(await inspect(options)), [], JSON.stringify(options));
  });

  it('accepts trained embedding rows, and one of the two heads that PEFT names', async () => {
    const rows = `${PREFIX}model.embed_tokens.token_adapter.trainable_tokens_delta`;
    const report = await inspect({ ...config({ lora_bias: true }), ...adding(`${Q0}.lora_B.bias`, rows) });
    assert.deepEqual(codesOf(report), []);
    assert.deepEqual([report.weights?.hasBias, report.weights?.savedModules], [true, ['model.embed_tokens']]);
    for (const names of [
      ['score.weight'],
      ['classifier.weight', 'classifier.bias'],
      ['classifier.dense.weight', 'classifier.dense.bias', 'classifier.out_proj.weight'],
    ]) {
      const found = await inspect({ ...config(head), ...adding(...names.map((name) => PREFIX + name)) });
      assert.deepEqual(codesOf(found), [], names.join());
    }
  });

  it('reads patterns, saved modules, and rsLoRA as PEFT does', async () => {
    const file = new URL('../../../fixtures/adapters/peft-0.18.json', import.meta.url);
    const { problems, weights } = await inspect({
      config: JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>,
      tensors: ([, , ...rest]) => [
        tensor(`${Q0}.lora_A.weight`, [8, 24]),
        tensor(`${Q0}.lora_B.weight`, [16, 8]),
        ...rest,
        tensor(`${PREFIX}lm_head.weight`, [4, 2]),
        tensor(`${PREFIX}model.embed_tokens.modules_to_save.weight`, [4, 2]),
      ],
    });
    assert.deepEqual(
      problems.map(({ code, actual }) => [code, actual]),
      [['embeddings-saved', 4]],
    );
    assert.deepEqual(weights?.savedModules, ['lm_head', 'model.embed_tokens']);
    assert.deepEqual([weights.minRank, weights.maxRank], [4, 8]);
    assert.deepEqual(
      weights.pairs.map(({ rank, scale }) => [rank, scale]),
      [
        [8, 16 / Math.sqrt(8)],
        [4, 8],
        [4, 8],
        [4, 12],
      ],
    );
  });

  it('reads the config of an early PEFT version', async () => {
    const file = new URL('../../../fixtures/adapters/peft-0.6.json', import.meta.url);
    const { config: read } = await inspectConfig(await readFile(file, 'utf8'));
    const flags = [
      ...['useRslora', 'useDora', 'isAlora', 'choosesLayers', 'repeatsLayers'],
      ...['loraBias', 'tiesWeights', 'isMlx'],
    ];
    assert.deepEqual(read, {
      peftType: 'LORA',
      taskType: 'CAUSAL_LM',
      baseModel: 'NousResearch/llama-2-7b-chat-hf',
      revision: undefined,
      rank: 32,
      alpha: 16,
      rankPattern: {},
      alphaPattern: {},
      ...Object.fromEntries(flags.map((flag) => [flag, false])),
      init: 'true',
      targetModules: ['q_proj', 'v_proj'],
      targetParameters: [],
      modulesToSave: [],
      bias: 'none',
      peftVersion: undefined,
      needsPeft: undefined,
    });
  });

  it('reads NaN and Infinity in a config as Python does, and a config with a byte order mark', async () => {
    const plain = sampleAdapter()[CONFIG]!.toString('utf8');
    const python = await inspectConfig(plain.replace('{', '{"lora_dropout": NaN, "x": [-Infinity],'));
    assert.deepEqual([python.config?.rank, python.problems], [4, []]);
    const marked = await inspectConfig(`\ufeff${plain}`);
    assert.deepEqual([marked.verdict.code, marked.config?.rank], ['adapter', 4]);
    assert.deepEqual(codesOf(marked), ['config-bom']);
  });

  it('reports a config that is invalid or too large', async () => {
    for (const text of ['', '[]', 'null', '"x"', '{', '{"r":4,}', `{"a":${'['.repeat(100_000)}`, '\u0000'])
      assert.deepEqual(codesOf(await inspectConfig(text)), ['config-not-json'], text.slice(0, 20));
    const long = JSON.stringify({ r: 4, more: 'x'.repeat(2 ** 20) });
    assert.deepEqual(codesOf(await inspectConfig(long)), ['config-too-large']);
  });

  it('is not misled by names such as __proto__', async () => {
    const { config: read, problems } = await inspectConfig(
      '{"__proto__": {"r": 9}, "constructor": 1, "r": 4, "lora_alpha": 8, "peft_type": "LORA", "base_model_name_or_path": "a/b", "target_modules": ["q_proj", "v_proj"], "rank_pattern": {"__proto__": 3, "toString": 5}}',
    );
    assert.deepEqual([read?.rank, problems], [4, []]);
  });

  it('runs no regular expression from a config', async () => {
    const evil = '(a+)+$';
    const { user } = process.cpuUsage();
    const { weights, problems } = await inspect({
      config: { r: 2, rank_pattern: { [evil]: 2 }, alpha_pattern: { [evil]: 2 }, target_modules: evil },
      modules: { [`${'a'.repeat(60)}!`]: [24, 16] },
    });
    assert.ok(process.cpuUsage().user - user < 2_000_000);
    assert.deepEqual([weights?.pairs[0]?.scale, problems], [undefined, []]);
  });

  it('reports a width only if few layers of one path have it, among several layers', async () => {
    const widths = (path: (layer: number) => string, ...inputs: number[]): SampleOptions => ({
      ...config({ target_modules: ['q', '0', '1', '2', '3'] }),
      tensors: () => inputs.flatMap((one, layer) => pair(path(layer), one)),
    });
    const inLayers = (layer: number) => `layers.${layer}.q`;
    for (const [options, count] of [
      [widths(inLayers, 2, 2, 3), 1],
      [widths(inLayers, ...Array<number>(14).fill(2), 3, 3), 2],
      [widths(inLayers, ...Array<number>(13).fill(2), 3, 3, 3), undefined],
      [widths(inLayers, 2, 3), undefined],
      [widths(inLayers, 2, 3, 4, 5), undefined],
      [widths((layer) => `tower${layer}.0.q`, 2, 2, 2, 3), undefined],
      [widths((layer) => `mlp.${layer}`, 2, 2, 2, 3), undefined],
    ] as const) {
      const { problems } = await inspect(options);
      assert.equal(problems.find(({ code }) => code === 'width-differs')?.count, count);
    }
  });

  it('notes a module that a few middle layers lack', async () => {
    const lacking = async (path: string, layers: readonly number[], more = {}) => {
      const tensors = () => layers.flatMap((layer) => pair(path.replace('#', String(layer))));
      const { problems } = await inspect({ ...config({ target_modules: '.*', ...more }), tensors });
      return problems.filter(({ code }) => code === 'layer-without-weights');
    };
    const upTo = (count: number, ...without: number[]) =>
      Array.from({ length: count }, (_, layer) => layer).filter((layer) => !without.includes(layer));
    for (const [layers, missing] of [
      [[0, 1, 3], ['layers.2.up_proj']],
      [upTo(18, 5, 9), ['layers.5.up_proj', 'layers.9.up_proj']],
      // As in hybrid models.
      [upTo(17, 3, 8, 13), []],
      [[0, 2], []],
      [upTo(4), []],
      [[2, 3, 4], []],
      [[0, 1, 2, 999_999], []],
    ] as const) {
      const found = await lacking('layers.#.up_proj', layers);
      assert.deepEqual(
        found.flatMap(({ examples }) => examples),
        missing,
      );
      assert.deepEqual(await lacking('layers.#.up_proj', layers, { layers_to_transform: layers }), []);
    }
    const [found] = await lacking('layers.#.up_proj', [0, 1, 3]);
    assert.deepEqual([found?.severity, found?.layer, found?.module], ['info', 2, 'up_proj']);
    // The steps of a sequence.
    assert.deepEqual(await lacking('mlp.#', [0, 1, 3]), []);
  });

  it('names modules by their path in a layer, and all experts of a kind the same', async () => {
    const { weights } = await inspect({
      config: { target_modules: ['q', 'up_proj', 'table'] },
      tensors: () => [
        ...pair('block.1.SelfAttention.q'),
        ...pair('block.0.SelfAttention.q'),
        ...pair('block.0.mlp.experts.3.up_proj'),
        ...pair('block.0.mlp.experts.4.up_proj'),
        tensor(`${PREFIX}table.lora_embedding_A`, [4, 10]),
        tensor(`${PREFIX}table.lora_embedding_B`, [2, 4]),
      ],
    });
    assert.deepEqual(
      weights?.pairs.map(({ layer, module }) => [layer, module]),
      [
        [0, 'q'],
        [0, 'experts.*.up_proj'],
        [0, 'experts.*.up_proj'],
        [1, 'q'],
        [undefined, 'table'],
      ],
    );
  });
});
