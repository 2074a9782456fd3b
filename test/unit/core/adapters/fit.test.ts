import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { AdapterProblem, ProblemCode } from '../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { encode, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { codesOf, Place, zipOf } from '../../../helpers/adapters/support.ts';

const CONFIG = 'adapter_config.json';
const PREFIX = 'base_model.model.';
const Q0 = `${PREFIX}model.layers.0.self_attn.q_proj`;

function small(name: string, shape: readonly number[] = [2], dtype = 'F32'): WrittenTensor {
  const count = shape.reduce((product, side) => product * side, 1);
  return { name, dtype, shape, data: encode(dtype, Array<number>(count).fill(1)) };
}

/** A and B of a module. */
function pair(name: string, inputs = 2, rank = 4): WrittenTensor[] {
  return [
    small(`${PREFIX}${name}.lora_A.weight`, [rank, inputs]),
    small(`${PREFIX}${name}.lora_B.weight`, [2, rank]),
  ];
}

function config(values: Record<string, unknown>): SampleOptions {
  return { config: values };
}

function adding(...names: (string | WrittenTensor)[]): SampleOptions {
  return {
    tensors: (all) => [...all, ...names.map((one) => (typeof one === 'string' ? small(one) : one))],
  };
}

/** The inputs of one module in the second layer are wider than in the first. */
function widths(...modules: string[]): SampleOptions {
  return {
    config: { target_modules: modules },
    tensors: () =>
      modules.flatMap((module, index) => [
        ...pair(`layers.0.x.${module}`, 24),
        ...pair(`layers.1.x.${module}`, index === 0 ? 32 : 48),
      ]),
  };
}

describe('the fit of config and tensors', () => {
  const place = new Place();

  const inspect = (options: SampleOptions) => place.inspect(zipOf(sampleAdapter(options)));
  const inspectConfig = async (text: string) =>
    await place.inspect(zipOf({ ...sampleAdapter(), [CONFIG]: Buffer.from(text) }));

  const head = { task_type: 'SEQ_CLS', modules_to_save: ['classifier', 'score'] };
  const cases: [string, SampleOptions, ProblemCode, Partial<AdapterProblem>][] = [
    [
      'a B without its A',
      { tensors: (all) => all.slice(1) },
      'partner-missing',
      { severity: 'error', examples: ['model.layers.0.self_attn.q_proj'] },
    ],
    [
      'a pair of two ranks',
      { tensors: ([a, , ...rest]) => [a!, small(`${Q0}.lora_B.weight`, [16, 3]), ...rest] },
      'pair-mismatch',
      { expected: 4, actual: 3 },
    ],
    [
      'names without the prefix of PEFT',
      { tensors: (all) => all.map((one) => ({ ...one, name: one.name.slice(PREFIX.length) })) },
      'prefix-missing',
      { severity: 'error', count: 8 },
    ],
    [
      'inputs that differ between layers',
      widths('q_proj'),
      'widths-differ',
      { severity: 'error', count: 1, expected: 24, actual: 32, examples: ['layers.1.x.q_proj'] },
    ],
    [
      'a wider feed-forward layer, which few models have',
      widths('down_proj'),
      'widths-differ',
      { severity: 'warning', count: 1 },
    ],
    [
      'different inputs of which some are certainly wrong',
      widths('down_proj', 'q_proj'),
      'widths-differ',
      { severity: 'error', count: 2 },
    ],
    ['another rank', config({ r: 8 }), 'rank-mismatch', { count: 4, expected: 8, actual: 4 }],
    [
      'another rank by pattern',
      config({ rank_pattern: { 'self_attn.q_proj': 2 } }),
      'rank-mismatch',
      { count: 2, expected: 2 },
    ],
    ['a module too many', config({ target_modules: ['q_proj'] }), 'module-not-targeted', { count: 2 }],
    [
      'a module too few',
      config({ target_modules: ['q_proj', 'v_proj', 'o_proj'] }),
      'module-without-weights',
      { examples: ['o_proj'] },
    ],
    ['an unknown tensor', adding('something.else'), 'tensor-unexpected', { examples: ['something.else'] }],
    ['a pair twice', adding(small(`${Q0}.lora_A.other.weight`, [4, 24])), 'tensor-unexpected', { count: 1 }],
    ['a bias', adding(`${Q0}.bias`), 'bias-mismatch', { expected: 'none', actual: 1 }],
    ['no bias', config({ bias: 'lora_only' }), 'bias-mismatch', { actual: 0 }],
    [
      'a saved module',
      { ...config({ modules_to_save: ['lm_head'] }), ...adding(`${PREFIX}lm_head.weight`) },
      'modules-to-save',
      { severity: 'info', examples: ['lm_head'] },
    ],
    [
      'a missing saved module',
      config({ modules_to_save: ['x'] }),
      'saved-module-missing',
      { examples: ['x'] },
    ],
    ['missing heads', config(head), 'saved-module-missing', { examples: ['classifier', 'score'] }],
    [
      'a saved module that the config lacks',
      adding(`${PREFIX}score.weight`, `${PREFIX}classifier.dense.weight`),
      'saved-module-unexpected',
      { examples: ['score', 'classifier.dense'] },
    ],
    ['DoRA without magnitudes', config({ use_dora: true }), 'dora-mismatch', { expected: 4, actual: 0 }],
    [
      'magnitudes without DoRA',
      adding(`${Q0}.lora_magnitude_vector`),
      'dora-mismatch',
      { expected: 0, actual: 1 },
    ],
    ['rsLoRA', config({ use_rslora: true }), 'uses-rslora', { severity: 'info' }],
    ['F64', { dtype: 'F64' }, 'dtype-unusual', { examples: ['F64'] }],
    ['two types', adding(small(`${PREFIX}lm_head.weight`, [2], 'F16')), 'dtypes-mixed', { count: 2 }],
    [
      'layers that differ',
      { tensors: (all) => all.slice(2) },
      'layers-differ',
      { severity: 'info', examples: ['0 q_proj'] },
    ],
    ['an alpha of 0', config({ lora_alpha: 0 }), 'alpha-zero', {}],
    ['no alpha', config({ lora_alpha: null }), 'alpha-missing', {}],
    ['no rank', config({ r: null }), 'rank-missing', {}],
    ['no base', config({ base_model_name_or_path: null }), 'base-model-missing', {}],
    [
      'a path as base',
      config({ base_model_name_or_path: '/mnt/models/x' }),
      'base-model-is-path',
      { actual: '/mnt/models/x' },
    ],
    ['no targets', config({ target_modules: null }), 'target-modules-missing', {}],
    ['no type', config({ peft_type: null }), 'peft-type-missing', {}],
    ['another type', config({ peft_type: 'IA3' }), 'not-lora', { severity: 'error', actual: 'IA3' }],
    [
      'values of wrong types',
      config({ r: '8', lora_alpha: true, target_modules: [1], rank_pattern: [], bias: 3 }),
      'config-wrong-type',
      { count: 5, examples: ['r', 'lora_alpha', 'rank_pattern', 'target_modules', 'bias'] },
    ],
    [
      'PiSSA',
      config({ init_lora_weights: 'pissa' }),
      'base-changed',
      { severity: 'warning', actual: 'pissa' },
    ],
    ['CorDA', config({ init_lora_weights: 'corda' }), 'base-changed', { severity: 'error' }],
    ['an unknown way to begin', config({ init_lora_weights: 'new' }), 'init-unknown', { actual: 'new' }],
    ['aLoRA', config({ alora_invocation_tokens: [1] }), 'uses-alora', {}],
    ['repeated layers', config({ layer_replication: [[0, 4]] }), 'repeats-layers', {}],
  ];
  for (const [name, options, code, expected] of cases)
    it(`reports ${name}`, async () => {
      const { verdict, problems } = await inspect(options);
      assert.equal(verdict.code, 'adapter');
      const found = problems.find((problem) => problem.code === code);
      assert.ok(found, JSON.stringify(problems));
      assert.deepEqual({ ...found, ...expected }, found);
    });

  it('finds nothing wrong with what only looks odd', async () => {
    for (const options of [
      config({ target_modules: '.*_proj' }),
      config({ target_modules: 'all-linear' }),
      config({ target_modules: ['self_attn.q_proj', 'v_proj'] }),
      config({ peft_type: 'lora' }),
      config({ layers_to_transform: 1, more: { of: ['the future'] }, alora_invocation_tokens: [] }),
      { dtype: 'BF16' },
      { dtype: 'F16' },
      // Two stacks of layers.
      {
        config: { target_modules: ['q_proj'] },
        tensors: () =>
          [0, 1].flatMap((layer) => [
            ...pair(`vision.layers.${layer}.self_attn.q_proj`, 16),
            ...pair(`text.layers.${layer}.self_attn.q_proj`, 32),
          ]),
      },
    ] satisfies SampleOptions[])
      assert.deepEqual(codesOf(await inspect(options)), [], JSON.stringify(options));
  });

  it('knows biases of LoRA, trained rows of an embedding, and one head of the two that PEFT names', async () => {
    const rows = `${PREFIX}model.embed_tokens.token_adapter.trainable_tokens_delta`;
    const report = await inspect(adding(`${Q0}.lora_B.bias`, rows));
    assert.deepEqual(codesOf(report), ['modules-to-save', 'embeddings-touched']);
    assert.deepEqual([report.weights?.hasBias, report.weights?.savedModules], [true, ['model.embed_tokens']]);
    for (const names of [
      ['score.weight'],
      ['classifier.weight', 'classifier.bias'],
      ['classifier.dense.weight', 'classifier.dense.bias', 'classifier.out_proj.weight'],
    ]) {
      const found = await inspect({ ...config(head), ...adding(...names.map((name) => PREFIX + name)) });
      assert.deepEqual(codesOf(found), ['modules-to-save'], names.join());
    }
  });

  it('reads patterns, saved modules and rsLoRA as PEFT does', async () => {
    const file = new URL('../../../fixtures/adapters/peft-0.18.json', import.meta.url);
    const { problems, weights } = await inspect({
      config: JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>,
      tensors: ([, , ...rest]) => [
        small(`${Q0}.lora_A.weight`, [8, 24]),
        small(`${Q0}.lora_B.weight`, [16, 8]),
        ...rest,
        small(`${PREFIX}lm_head.weight`, [4, 2]),
        small(`${PREFIX}model.embed_tokens.modules_to_save.weight`, [4, 2]),
      ],
    });
    assert.deepEqual(
      problems.map(({ code, severity }) => [code, severity]),
      ['uses-rslora', 'modules-to-save', 'embeddings-touched', 'lm-head-touched'].map((code) => [
        code,
        'info',
      ]),
    );
    assert.deepEqual(weights?.savedModules, ['lm_head', 'model.embed_tokens']);
    assert.deepEqual([weights.minRank, weights.maxRank], [4, 8]);
    assert.deepEqual(
      weights.pairs.map(({ rank, alpha, scale }) => [rank, alpha, scale]),
      [
        [8, 16, 16 / Math.sqrt(8)],
        [4, 16, 8],
        [4, 16, 8],
        [4, 24, 12],
      ],
    );
  });

  it('reads the config of an early PEFT', async () => {
    const file = new URL('../../../fixtures/adapters/peft-0.6.json', import.meta.url);
    const { config: read } = await inspectConfig(await readFile(file, 'utf8'));
    const flags = ['useRslora', 'useDora', 'fanInFanOut', 'isAlora', 'repeatsLayers', 'loraBias'];
    assert.deepEqual(read, {
      peftType: 'LORA',
      taskType: 'CAUSAL_LM',
      baseModel: 'NousResearch/llama-2-7b-chat-hf',
      revision: undefined,
      rank: 32,
      alpha: 16,
      dropout: 0.1,
      rankPattern: {},
      alphaPattern: {},
      ...Object.fromEntries(flags.map((flag) => [flag, false])),
      init: 'true',
      targetModules: ['q_proj', 'v_proj'],
      targetParameters: [],
      modulesToSave: [],
      bias: 'none',
      peftVersion: undefined,
    });
  });

  it('reads a config as Python would, and one with a byte order mark', async () => {
    const plain = sampleAdapter()[CONFIG]!.toString('utf8');
    const python = await inspectConfig(plain.replace('{', '{"lora_dropout": NaN, "x": [-Infinity],'));
    assert.deepEqual([python.config?.rank, python.config?.dropout, python.problems], [4, undefined, []]);
    const marked = await inspectConfig(`\ufeff${plain}`);
    assert.deepEqual([marked.verdict.code, marked.config?.rank], ['adapter', 4]);
    assert.deepEqual(codesOf(marked), ['config-bom']);
  });

  it('reports a config that is none', async () => {
    for (const text of ['', '[]', 'null', '"x"', '{', '{"r":4,}', `{"a":${'['.repeat(100_000)}`, '\u0000'])
      assert.deepEqual(codesOf(await inspectConfig(text)), ['config-not-json'], text.slice(0, 20));
    const long = JSON.stringify({ r: 4, more: 'x'.repeat(2 ** 20) });
    assert.deepEqual(codesOf(await inspectConfig(long)), ['config-too-large']);
  });

  it('is not misled by names that objects have', async () => {
    const { config: read, problems } = await inspectConfig(
      '{"__proto__": {"r": 9}, "constructor": 1, "r": 4, "lora_alpha": 8, "peft_type": "LORA", "base_model_name_or_path": "a/b", "target_modules": ["q_proj", "v_proj"], "rank_pattern": {"__proto__": 3, "toString": 5}}',
    );
    assert.deepEqual([read?.rank, problems], [4, []]);
  });

  it('runs no regular expression of a config', async () => {
    const evil = '(a+)+$';
    const startedMs = performance.now();
    const { weights, problems } = await inspect({
      config: { r: 2, rank_pattern: { [evil]: 2 }, alpha_pattern: { [evil]: 2 }, target_modules: evil },
      modules: { [`${'a'.repeat(60)}!`]: [24, 16] },
    });
    assert.ok(performance.now() - startedMs < 2000);
    assert.deepEqual([weights?.pairs[0]?.alpha, problems], [undefined, []]);
  });

  it('names modules unambiguously', async () => {
    const { weights, problems } = await inspect({
      config: { target_modules: ['q', 'up_proj', 'table'] },
      tensors: () => [
        ...pair('block.1.SelfAttention.q'),
        ...pair('block.0.SelfAttention.q'),
        ...pair('block.0.CrossAttention.q'),
        ...pair('block.0.mlp.experts.3.up_proj'),
        ...pair('block.0.mlp.experts.4.up_proj'),
        small(`${PREFIX}table.lora_embedding_A`, [4, 10]),
        small(`${PREFIX}table.lora_embedding_B`, [2, 4]),
      ],
    });
    assert.deepEqual(
      weights?.pairs.map(({ layer, module }) => [layer, module]),
      [
        [0, 'SelfAttention.q'],
        [0, 'CrossAttention.q'],
        [0, 'experts.3.up_proj'],
        [0, 'experts.4.up_proj'],
        [1, 'SelfAttention.q'],
        [undefined, 'table'],
      ],
    );
    assert.ok(problems.some(({ code }) => code === 'embeddings-touched'));
  });
});
