import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { AdapterProblem, ProblemCode } from '../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { encode, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { codesOf, Place, zipOf } from '../../../helpers/adapters/support.ts';

const CONFIG = 'adapter_config.json';
const Q0 = 'base_model.model.model.layers.0.self_attn.q_proj';

function small(name: string, shape: readonly number[] = [2], dtype = 'F32'): WrittenTensor {
  const count = shape.reduce((product, side) => product * side, 1);
  return {
    name,
    dtype,
    shape,
    data: encode(
      dtype,
      Array.from({ length: count }, () => 1),
    ),
  };
}

describe('the fit of config and tensors', () => {
  const place = new Place();

  const inspect = (options: SampleOptions) => place.inspect(zipOf(sampleAdapter(options)));
  const configText = async (text: string) =>
    await place.inspect(zipOf({ ...sampleAdapter(), [CONFIG]: Buffer.from(text) }));

  const cases: [string, SampleOptions, ProblemCode, Partial<AdapterProblem>][] = [
    [
      'a B without its A',
      { tensors: (all) => all.slice(1) },
      'partner-missing',
      { severity: 'error', examples: [Q0.slice(17)] },
    ],
    [
      'a pair of two ranks',
      { tensors: ([a, , ...rest]) => [a!, small(`${Q0}.lora_B.weight`, [16, 3]), ...rest] },
      'pair-mismatch',
      { expected: 4, actual: 3 },
    ],
    [
      'names without the prefix of PEFT',
      { tensors: (all) => all.map((one) => ({ ...one, name: one.name.slice('base_model.model.'.length) })) },
      'prefix-missing',
      { severity: 'error', count: 8 },
    ],
    [
      'inputs that are not as wide in each layer',
      {
        tensors: (all) => [
          ...all.slice(0, 4),
          small('base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight', [4, 32]),
          ...all.slice(5),
        ],
      },
      'widths-differ',
      {
        severity: 'error',
        count: 1,
        expected: 24,
        actual: 32,
        examples: ['model.layers.1.self_attn.q_proj'],
      },
    ],
    [
      'a feed-forward layer that is wider in one layer, as few models have it',
      {
        modules: { down_proj: [24, 16] },
        tensors: ([a, b, , d]) => [
          a!,
          b!,
          small('base_model.model.model.layers.1.self_attn.down_proj.lora_A.weight', [4, 48]),
          d!,
        ],
      },
      'widths-differ',
      { severity: 'warning', count: 1 },
    ],
    [
      'modules of which some are surely wrong',
      {
        modules: { down_proj: [24, 16], q_proj: [24, 16] },
        tensors: (all) =>
          all.map((one) =>
            /layers\.1\..*lora_A/.test(one.name) ? small(one.name, [4, 48], one.dtype) : one,
          ),
      },
      'widths-differ',
      { severity: 'error', count: 2 },
    ],
    ['another rank', { config: { r: 8 } }, 'rank-mismatch', { count: 4, expected: 8, actual: 4 }],
    [
      'another rank by pattern',
      { config: { rank_pattern: { 'self_attn.q_proj': 2 } } },
      'rank-mismatch',
      { count: 2, expected: 2 },
    ],
    ['a module too many', { config: { target_modules: ['q_proj'] } }, 'module-not-targeted', { count: 2 }],
    [
      'a module too few',
      { config: { target_modules: ['q_proj', 'v_proj', 'o_proj'] } },
      'module-without-weights',
      { examples: ['o_proj'] },
    ],
    [
      'an unknown tensor',
      { tensors: (all) => [...all, small('something.else')] },
      'tensor-unexpected',
      { examples: ['something.else'] },
    ],
    [
      'a pair twice',
      { tensors: (all) => [...all, small(`${Q0}.lora_A.other.weight`, [4, 24])] },
      'tensor-unexpected',
      { count: 1 },
    ],
    [
      'a bias',
      { tensors: (all) => [...all, small(`${Q0}.bias`)] },
      'bias-mismatch',
      { expected: 'none', actual: 1 },
    ],
    ['no bias', { config: { bias: 'lora_only' } }, 'bias-mismatch', { actual: 0 }],
    [
      'a saved module',
      {
        config: { modules_to_save: ['lm_head'] },
        tensors: (all) => [...all, small('base_model.model.lm_head.weight')],
      },
      'modules-to-save',
      { severity: 'info', examples: ['lm_head'] },
    ],
    [
      'a saved module that is missing',
      { config: { modules_to_save: ['lm_head'] } },
      'saved-module-missing',
      { examples: ['lm_head'] },
    ],
    [
      'a saved module of nobody',
      { tensors: (all) => [...all, small('base_model.model.score.weight')] },
      'saved-module-unexpected',
      { examples: ['score'] },
    ],
    ['DoRA without magnitudes', { config: { use_dora: true } }, 'dora-mismatch', { expected: 4, actual: 0 }],
    [
      'magnitudes without DoRA',
      { tensors: (all) => [...all, small(`${Q0}.lora_magnitude_vector`)] },
      'dora-mismatch',
      { expected: 0, actual: 1 },
    ],
    ['rsLoRA', { config: { use_rslora: true } }, 'uses-rslora', { severity: 'info' }],
    ['F64', { dtype: 'F64' }, 'dtype-unusual', { examples: ['F64'] }],
    [
      'two dtypes',
      { tensors: (all) => [...all, small('base_model.model.lm_head.weight', [2], 'F16')] },
      'dtypes-mixed',
      { count: 2 },
    ],
    [
      'layers that differ',
      { tensors: (all) => all.slice(2) },
      'layers-differ',
      { severity: 'info', examples: ['0 q_proj'] },
    ],
    ['an alpha of 0', { config: { lora_alpha: 0 } }, 'alpha-zero', {}],
    ['no alpha', { config: { lora_alpha: null } }, 'alpha-missing', {}],
    ['no rank', { config: { r: null } }, 'rank-missing', {}],
    ['no base', { config: { base_model_name_or_path: null } }, 'base-model-missing', {}],
    [
      'a path as base',
      { config: { base_model_name_or_path: '/mnt/models/x' } },
      'base-model-is-path',
      { actual: '/mnt/models/x' },
    ],
    ['no targets', { config: { target_modules: null } }, 'target-modules-missing', {}],
    ['no kind', { config: { peft_type: null } }, 'peft-type-missing', {}],
    ['another kind', { config: { peft_type: 'IA3' } }, 'not-lora', { severity: 'error', actual: 'IA3' }],
    [
      'types that are wrong',
      { config: { r: '8', lora_alpha: true, target_modules: [1], rank_pattern: [], bias: 3 } },
      'config-wrong-type',
      { count: 5, examples: ['r', 'lora_alpha', 'rank_pattern', 'target_modules', 'bias'] },
    ],
  ];
  for (const [name, options, code, expected] of cases)
    it(`tells ${name}`, async () => {
      const { verdict, problems } = await inspect(options);
      assert.equal(verdict.code, 'adapter');
      const found = problems.find((problem) => problem.code === code);
      assert.ok(found, JSON.stringify(problems));
      assert.deepEqual({ ...found, ...expected }, found);
    });

  it('finds nothing wrong with what only looks odd', async () => {
    for (const options of [
      { config: { target_modules: '.*_proj' } },
      { config: { target_modules: 'all-linear' } },
      { config: { target_modules: ['self_attn.q_proj', 'v_proj'] } },
      { config: { peft_type: 'lora' } },
      { config: { layers_to_transform: 1, more: { of: ['the future'] } } },
      { dtype: 'BF16' },
      { dtype: 'F16' },
    ] satisfies SampleOptions[])
      assert.deepEqual(codesOf(await inspect(options)), [], JSON.stringify(options));
  });

  it('knows biases of LoRA and trained rows of an embedding', async () => {
    const { problems, weights } = await inspect({
      tensors: (all) => [
        ...all,
        small(`${Q0}.lora_B.bias`),
        small('base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta'),
      ],
    });
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['modules-to-save', 'embeddings-touched'],
    );
    assert.deepEqual([weights?.hasBias, weights?.savedModules], [true, ['model.embed_tokens']]);
  });

  it('takes patterns, saved modules and rsLoRA as PEFT does', async () => {
    const config = JSON.parse(
      await readFile(new URL('../../../fixtures/adapters/peft-0.18.json', import.meta.url), 'utf8'),
    ) as Record<string, unknown>;
    const { problems, weights } = await inspect({
      config,
      tensors: ([, , ...rest]) => [
        small(`${Q0}.lora_A.weight`, [8, 24]),
        small(`${Q0}.lora_B.weight`, [16, 8]),
        ...rest,
        small('base_model.model.lm_head.weight', [4, 2]),
        small('base_model.model.model.embed_tokens.modules_to_save.weight', [4, 2]),
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
    assert.deepEqual(
      [weights.minRank, weights.maxRank, weights.touchesEmbeddings, weights.touchesLmHead],
      [4, 8, true, true],
    );
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
    const text = await readFile(new URL('../../../fixtures/adapters/peft-0.6.json', import.meta.url), 'utf8');
    const { config } = await configText(text);
    const flags = ['useRslora', 'useDora', 'fanInFanOut', 'isAlora', 'repeatsLayers', 'loraBias'];
    assert.deepEqual(config, {
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

  it('finds nothing wrong with two stacks of layers of different widths', async () => {
    const pair = (name: string, inputs: number) => [
      small(`base_model.model.${name}.lora_A.weight`, [4, inputs]),
      small(`base_model.model.${name}.lora_B.weight`, [8, 4]),
    ];
    const { problems } = await inspect({
      config: { target_modules: ['q_proj'] },
      tensors: () => [
        ...pair('vision.layers.0.self_attn.q_proj', 16),
        ...pair('text.layers.0.self_attn.q_proj', 32),
        ...pair('vision.layers.1.self_attn.q_proj', 16),
        ...pair('text.layers.1.self_attn.q_proj', 32),
      ],
    });
    assert.deepEqual(problems, []);
  });

  it('tells a byte order mark, at which PEFT raises, and reads the config all the same', async () => {
    const { config, problems, verdict } = await configText(
      `\ufeff${sampleAdapter()[CONFIG]!.toString('utf8')}`,
    );
    assert.deepEqual([verdict.code, config?.rank], ['adapter', 4]);
    assert.deepEqual(
      problems.map(({ code, severity }) => [code, severity]),
      [['config-bom', 'error']],
    );
  });

  it('reads a config as Python would', async () => {
    const text =
      '{"r": 4, "lora_alpha": 8, "lora_dropout": NaN, "target_modules": ["q_proj", "v_proj"], "peft_type": "LORA", "base_model_name_or_path": "a/b"}';
    const { config, problems } = await configText(text);
    assert.deepEqual([config?.rank, config?.dropout, problems], [4, undefined, []]);
  });

  it('tells a config that is none', async () => {
    for (const text of ['', '[]', 'null', '"x"', '{', '{"r":4,}', `{"a":${'['.repeat(100_000)}`, '\u0000'])
      assert.deepEqual(codesOf(await configText(text)), ['config-not-json'], text.slice(0, 20));
    const long = JSON.stringify({ r: 4, more: 'x'.repeat(2 ** 20) });
    assert.deepEqual(codesOf(await configText(long)), ['config-too-large']);
  });

  it('is not led astray by names that objects have', async () => {
    const { config, problems } = await configText(
      '{"__proto__": {"r": 9}, "constructor": 1, "r": 4, "lora_alpha": 8, "peft_type": "LORA", "base_model_name_or_path": "a/b", "target_modules": ["q_proj", "v_proj"], "rank_pattern": {"__proto__": 3, "toString": 5}}',
    );
    assert.deepEqual([config?.rank, problems], [4, []]);
  });

  it('runs no regular expression of somebody else', async () => {
    const evil = '(a+)+$';
    const startedMs = performance.now();
    const { weights, problems } = await inspect({
      config: { rank_pattern: { [evil]: 2 }, alpha_pattern: { [evil]: 2 }, target_modules: evil },
      modules: { [`${'a'.repeat(60)}!`]: [24, 16] },
    });
    assert.ok(performance.now() - startedMs < 2000);
    assert.deepEqual([weights?.pairs[0]?.alpha, problems], [undefined, []]);
  });

  it('names modules so that none are confused', async () => {
    const pair = (name: string) => [
      small(`base_model.model.${name}.lora_A.weight`, [4, 2]),
      small(`base_model.model.${name}.lora_B.weight`, [2, 4]),
    ];
    const { weights } = await inspect({
      config: { target_modules: ['q', 'up_proj', 'table'] },
      tensors: () => [
        ...pair('block.1.SelfAttention.q'),
        ...pair('block.0.SelfAttention.q'),
        ...pair('block.0.CrossAttention.q'),
        ...pair('block.0.mlp.experts.3.up_proj'),
        ...pair('block.0.mlp.experts.4.up_proj'),
        small('base_model.model.table.lora_embedding_A', [4, 10]),
        small('base_model.model.table.lora_embedding_B', [2, 4]),
      ],
    });
    assert.deepEqual(
      weights?.pairs.map(({ layer, module, isEmbedding }) => [layer, module, isEmbedding]),
      [
        [0, 'SelfAttention.q', false],
        [0, 'CrossAttention.q', false],
        [0, 'experts.3.up_proj', false],
        [0, 'experts.4.up_proj', false],
        [1, 'SelfAttention.q', false],
        [undefined, 'table', true],
      ],
    );
    assert.ok(weights.touchesEmbeddings);
  });
});
