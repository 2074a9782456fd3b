import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspectionReport } from '../../../../src/core/adapters/inspect.ts';
import { recipesOf } from '../../../../src/core/adapters/recipes.ts';
import type { AdapterReport } from '../../../../src/core/adapters/report.ts';
import { tensor, writeTensors } from '../../../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { FOLDER, Place, zipOf } from '../../../helpers/adapters/support.ts';
import { golden, pictured } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { adapterOverview } = await withVscode(() => import('../../../../src/ui/adapters/adapterOverview.ts'));
const { adapterRecipes } = await withVscode(() => import('../../../../src/ui/adapters/adapterRecipes.ts'));

const FIXTURES = path.join(import.meta.dirname, '../../../fixtures/adapters/reports');
const WEIGHTS = 'adapter_model.safetensors';

/** A sample whose tensors have other names. */
function named(change: (name: string) => string): SampleOptions {
  return { tensors: (all) => all.map((one) => ({ ...one, name: change(one.name) })) };
}

const inside = (text: string) => named((name) => name.replace('self_attn.', `${text}self_attn.`));
const before = (text: string) => named((name) => text + name);
const bare = (name: string) => name.replace('base_model.model.', '');
const saving = (name: string, more: SampleOptions['config']): SampleOptions => ({
  config: { ...more },
  tensors: (all) => [...all, tensor(name, [8, 4])],
});

/** Siblings of the names of tensors that were reported. */
const NAMES: Readonly<Record<string, SampleOptions>> = {
  '_orig_mod in the middle': inside('_orig_mod.'),
  'module.module.base_model': before('module.module.'),
  'several wrappers': named((name) =>
    `module._orig_mod.${name}`.replace(
      'self_attn.',
      '_fsdp_wrapped_module._checkpoint_wrapped_module.self_attn.',
    ),
  ),
  'module after _orig_mod': named((name) =>
    name.replace('base_model.model.', 'base_model.model._orig_mod.module.'),
  ),
  'a wrapper of Lightning': before('_forward_module.'),
  'another adapter’s name': named((name) => name.replace('.weight', '.my_adapter.weight')),
  'no prefix': named(bare),
  'module instead of the prefix': named((name) => `module.${bare(name)}`),
  'DistributedDataParallel inside': named((name) => name.replace('base_model.', 'base_model.module.')),
  'DistributedDataParallel in a layer': inside('module.'),
  'the prefix twice': before('base_model.model.'),
  'a saved module alone': {
    config: { modules_to_save: ['lm_head'], target_modules: [] },
    tensors: () => [tensor('module.base_model.model.lm_head.weight', [8, 4])],
  },
  'DoRA with an adapter’s name': {
    config: { use_dora: true },
    tensors: (all) => [
      ...all,
      ...all
        .filter(({ name }) => name.includes('lora_B'))
        .map(({ name, shape }) =>
          tensor(name.replace('lora_B.weight', 'lora_magnitude_vector.default'), [shape[0]!]),
        ),
    ],
  },
  'a saved module with an adapter’s name': saving('base_model.model.lm_head.modules_to_save.default.weight', {
    modules_to_save: ['lm_head'],
  }),
  'trained tokens with an adapter’s name': saving(
    'base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta.default',
    { trainable_token_indices: [1] },
  ),
};

/** Siblings of reports without a mend: modules, formats and values. */
const OTHERS: Readonly<Record<string, SampleOptions>> = {
  'Tinker’s head, fully saved': saving('base_model.model.model.unembed_tokens.weight', {
    modules_to_save: ['unembed_tokens'],
  }),
  'torchtune without values': {
    tensors: (all) => all.map(({ name }) => tensor(name.replace(/lora_[AB]/, 'lora_a'), [0])),
  },
  'PEFT beside a config of MLX': { config: { lora_parameters: { rank: 8 } } },
  'MLX without tensors': { config: { lora_parameters: { rank: 8 } }, tensors: () => [] },
  Kohya: named((name) =>
    name.replace('base_model.model', 'lora_unet').replace('lora_A', 'lora_down').replace('lora_B', 'lora_up'),
  ),
  NeMo: named((name) =>
    bare(name).replace('lora_', 'adapter.linear_').replace('_A', '_in').replace('_B', '_out'),
  ),
};

const base = (base_model_name_or_path: string): SampleOptions => ({ config: { base_model_name_or_path } });

/** Base models, each with what is expected of its kind. */
const VISION = [
  ...['Qwen/Qwen2-VL-7B-Instruct', 'Qwen/Qwen2.5-Omni-7B', 'Qwen/QVQ-72B-Preview', 'google/gemma-3-12b-it'],
  ...[
    'google/gemma-4-31B-it',
    'google/gemma-3n-E4B-it',
    'mistralai/Pixtral-12B-2409',
    'OpenGVLab/InternVL3_5-8B',
  ],
  ...[
    'meta-llama/Llama-3.2-11B-Vision-Instruct',
    'microsoft/Phi-3.5-vision-instruct',
    'llava-hf/llava-v1.6-34b-hf',
  ],
  ...['HuggingFaceTB/SmolVLM2-2.2B-Instruct', 'deepseek-ai/deepseek-vl2-tiny', 'openbmb/MiniCPM-V-2_6'],
  ...['zai-org/GLM-4.5V', 'microsoft/Phi-4-multimodal-instruct', '/models/Qwen2.5-VL-7B-Instruct'],
  ...['/hub/models--Qwen--Qwen3-VL-8B-Instruct/snapshots/0c1a', 'unsloth/gemma-3-4b-it-unsloth-bnb-4bit'],
  ...['mistralai/Ministral-3-8B-Instruct-2512', 'mistralai/Magistral-Small-2509'],
  ...['ByteDance-Seed/UI-TARS-1.5-7B', 'deepseek-ai/DeepSeek-OCR', 'meta-llama/Llama-Guard-4-12B'],
  ...['Salesforce/instructblip-vicuna-7b', 'google/shieldgemma-2-4b-it', 'JSL/medgemma-4b'],
];
const TEXT = [
  ...[
    'Qwen/Qwen3-8B',
    'google/gemma-3-1b-it',
    'google/gemma-3-270m',
    'google/gemma-2-9b',
    'meta-llama/Llama-3.1-8B',
  ],
  ...[
    'microsoft/phi-4',
    'openai/gpt-oss-20b',
    'acme/supervision-7b',
    '/home/vision/qwen3-8b',
    'THUDM/glm-4-9b-chat',
  ],
  ...[
    'HuggingFaceTB/SmolLM3-3B',
    'acme/gemma-4b',
    'google/medgemma-27b-text-it',
    'C:\\gguf\\Qwen3-8B',
    'acme/novlty',
  ],
  ...['acme/gemma-3-4b-it-text-only', 'gghfez/gemma-3-27b-novision', 'mistralai/Magistral-Small-2506'],
  ...[
    'acme/visual-novel-writer-7b',
    'acme/Janusz-7b',
    'acme/Jovis-7b',
    'acme/ocritic',
    'microsoft/bitnet-b1.58',
  ],
];
/** By name: how it is quantized, its 16-bit original, and the packages that load it. */
const QUANTIZED: Readonly<Record<string, string>> = {
  'unsloth/Meta-Llama-3.1-8B-bnb-4bit': 'bitsandbytes, unsloth/Meta-Llama-3.1-8B',
  'unsloth/Qwen3-8B-unsloth-bnb-4bit': 'bitsandbytes, unsloth/Qwen3-8B',
  'hugging-quants/Llama-3.1-70B-BNB-NF4': 'bitsandbytes, BASE_MODEL_16BIT',
  'acme/Some-Model-4bit': 'bitsandbytes, BASE_MODEL_16BIT',
  'Qwen/Qwen2.5-7B-Instruct-AWQ': 'gptqmodel, Qwen/Qwen2.5-7B-Instruct',
  'TheBloke/Mistral-7B-v0.1-AWQ': 'gptqmodel, BASE_MODEL_16BIT',
  'Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8': 'gptqmodel optimum, Qwen/Qwen2.5-7B-Instruct',
  'hugging-quants/Llama-3.1-8B-AWQ-INT4': 'gptqmodel, BASE_MODEL_16BIT',
  'Qwen/Qwen3-30B-A3B-Instruct-2507-FP8': ', Qwen/Qwen3-30B-A3B-Instruct-2507',
  'Intel/Qwen3-8B-int4-AutoRound': 'auto-round, BASE_MODEL_16BIT',
  'mobiuslabsgmbh/Llama-2-7b-hf-4bit_g64-HQQ': 'hqq, BASE_MODEL_16BIT',
  'ISTA-DASLab/Llama-2-7b-AQLM-2Bit-1x16-hf': 'aqlm, BASE_MODEL_16BIT',
  'RedHatAI/Qwen3-8B-quantized.w4a16': 'compressed-tensors, BASE_MODEL_16BIT',
  '/models/Qwen3-8B-bnb-4bit': 'bitsandbytes, BASE_MODEL_16BIT',
};
const UNLOADABLE = [
  ...['mlx-community/Qwen3-8B-4bit', 'lmstudio-community/Qwen3-8B-MLX-4bit', 'unsloth/Qwen3-8B-GGUF'],
  ...['/models/qwen3-8b.Q4_K_M.gguf', 'turboderp/Llama-3.1-8B-exl2'],
];

/** Folders with checkpoints: the config and the weights of each, if it has them. */
const CHECKPOINTS: Readonly<Record<string, Readonly<Record<string, 'whole' | 'config' | 'cut' | 'empty'>>>> =
  {
    'numbers, not letters': {
      'checkpoint-500': 'whole',
      'checkpoint-1000': 'whole',
      'checkpoint-50': 'whole',
    },
    'letters would do': { 'checkpoint-5': 'whole', 'checkpoint-9': 'whole' },
    'one checkpoint': { 'checkpoint-500': 'whole' },
    'an unfinished newest': { 'checkpoint-500': 'whole', 'checkpoint-1000': 'config' },
    'a cut newest': { 'checkpoint-500': 'whole', 'checkpoint-1000': 'cut' },
    'beside the adapter': { '': 'whole', 'checkpoint-500': 'whole', 'checkpoint-1000': 'whole' },
    'without tensors in the newest': { 'checkpoint-500': 'whole', 'checkpoint-1000': 'empty' },
    'none complete': { 'checkpoint-500': 'config', 'checkpoint-1000': 'config' },
    'too far inside': { 'out/run/checkpoint-500': 'whole' },
    'in the folder of a run': { 'run/checkpoint-500': 'whole', 'run/checkpoint-1000': 'whole' },
    'with the adapter in a folder': {
      'checkpoint-500/adapter_model': 'whole',
      'checkpoint-1000/adapter_model': 'whole',
    },
    'two numbers': { 'checkpoint-500-epoch-9': 'whole', 'checkpoint-1000-epoch-10': 'whole' },
    Lightning: { 'epoch=1-step=900': 'whole', 'epoch=2-step=1000': 'whole' },
    'numbers alone': { 500: 'whole', 1000: 'whole' },
    epochs: { epoch_2: 'whole', epoch_10: 'whole' },
  };

describe('the page of a reported adapter', () => {
  const place = new Place();
  const shownRecipes = (report: AdapterReport) => recipesOf(report, { folder: FOLDER, platform: 'linux' });
  /** Verdict, rows, and the blocks of each tool that is shown. */
  const said = (report: AdapterReport) => {
    const { verdict, sections } = adapterOverview(report, undefined, true);
    const recipes = shownRecipes(report);
    const { tools } = adapterRecipes(recipes, report.config?.baseModel, FOLDER, undefined, report.file);
    const notes = sections.flatMap((one) => one.notes ?? []);
    const facts = sections.flatMap((one) => one.facts ?? []);
    const meant = ['Other checkpoints', 'Loading'];
    return pictured('adapter', { type: 'page', verdict, sections } as never, [
      [`${verdict.kind}: ${verdict.title}`, ...verdict.sentences].join(' | '),
      ...notes.map(({ severity, text, examples = [] }) =>
        [severity, text, ...examples.slice(0, 1)].join(' | '),
      ),
      ...facts.flatMap(({ name, value }) => (meant.includes(name) ? [`${name}: ${value}`] : [])),
      ...tools.map(({ name, warnings, blocks }) =>
        [name, ...warnings.map(({ text }) => text), blocks.map(({ title }) => title).join(', ')].join(' > '),
      ),
    ]);
  };
  const sampled = (options: SampleOptions) => place.inspect(zipOf(sampleAdapter(options)));

  it('says what the names, values, base and checkpoints mean', async () => {
    const names = (await readdir(FIXTURES)).sort();
    const found = new Map<string, ReturnType<typeof said>>();
    for (const name of names) found.set(name, said(await inspectionReport(path.join(FIXTURES, name))));
    for (const [name, options] of Object.entries({ ...NAMES, ...OTHERS }))
      found.set(name, said(await sampled(options)));
    assert.equal(names.length, 25);
    golden('adapter-reports', Object.fromEntries(found));
  });

  /**
   * PEFT's own rule (src/peft/utils/save_and_load.py): a key `base_model.model.{module}.lora_A.weight` of a module of
   * the base. The base of the samples and of the fixtures has these.
   */
  const isLoaded = (name: string) =>
    /^base_model\.model\.(?:model\.layers\.\d+\.self_attn\.[qv]_proj\.(?:lora_[AB]\.weight|lora_magnitude_vector)|lm_head\.weight|model\.embed_tokens\.token_adapter\.trainable_tokens_delta)$/.test(
      name,
    );

  it('renames tensors to names that PEFT loads', async () => {
    const fixtures = [
      'a10-ddp-prefix',
      'a10b-fsdp-prefix',
      'a10d-orig-mod-first',
      'a11-default-in-names',
      'a16-prefix-outside',
    ];
    const reports = [
      ...(await Promise.all(fixtures.map((name) => inspectionReport(path.join(FIXTURES, name))))),
      ...(await Promise.all(Object.values(NAMES).map(sampled))),
    ];
    for (const report of reports) {
      const { renames = [], problems } = report;
      const names = problems.find(({ code }) => code === 'names-wrapped')?.examples ?? [];
      assert.ok(names.length > 0 && !names.some(isLoaded), names[0]);
      const renamed = names.map((name) =>
        renames.reduce((text, { pattern, to }) => text.replace(new RegExp(pattern, 'g'), to), name),
      );
      assert.deepEqual(
        renamed.filter((name) => !isLoaded(name)),
        [],
      );
      const { tools, mend, hub } = shownRecipes(report);
      assert.deepEqual([tools, hub, mend.map(({ purpose }) => purpose)], [[], [], ['install', 'rename']]);
      assert.ok((mend[1]?.text.split('\n').length ?? 0) <= 15);
    }
    // Two adapters of one file would get the same names.
    const both = await sampled({
      tensors: (all) =>
        ['one', 'two'].flatMap((adapter) =>
          all.map((one) => ({ ...one, name: one.name.replace('.weight', `.${adapter}.weight`) })),
        ),
    });
    assert.deepEqual([both.renames, shownRecipes(both).mend], [undefined, []]);
    const good = await sampled({});
    assert.deepEqual([good.problems, good.renames], [[], undefined]);
  });

  it('loads with the class of a vision model exactly if the base or the modules are of one', async () => {
    const refused = async (options: SampleOptions) => {
      const { tools } = shownRecipes(await sampled(options));
      const text = tools[0]?.blocks.map((one) => one.text).join('\n') ?? '';
      const isVision = /^base = AutoModelForImageTextToText\./m.test(text);
      assert.equal(isVision, !text.includes('AutoModelForCausalLM'));
      for (const { tool, refusal } of tools)
        assert.equal(refusal, isVision && !['peft', 'vllm'].includes(tool) ? 'vision-refused' : undefined);
      return isVision;
    };
    for (const name of VISION) assert.ok(await refused(base(name)), name);
    for (const name of TEXT) assert.ok(!(await refused(base(name))), name);
    for (const module of ['visual', 'vision_tower.encoder', 'language_model', 'thinker', 'text_model'])
      assert.ok(
        await refused({
          ...named((one) => one.replace('model.model.', `model.model.${module}.`)),
          ...base('acme/unknown'),
        }),
        module,
      );
  });

  it('merges only into the 16-bit original of a quantized base, and loads no base that PEFT can’t', async () => {
    for (const [name, expected] of Object.entries(QUANTIZED)) {
      const [packages, original] = expected.split(', ');
      const { tools } = shownRecipes(await sampled(base(name)));
      const blocks = Object.fromEntries(
        tools.flatMap(({ tool, blocks: its }) => its.map((one) => [`${tool} ${one.purpose}`, one] as const)),
      );
      const shown = name.startsWith('/') ? 'BASE_MODEL' : name;
      assert.equal(
        blocks['peft install']?.text,
        `python3 -m pip install -U peft transformers accelerate${packages && ` ${packages}`}`,
      );
      assert.ok(blocks['peft load-and-run']?.text.includes(`.from_pretrained("${shown}"`), name);
      for (const merge of ['peft merge', 'ollama merge'])
        assert.ok(
          blocks[merge]?.text.includes(`.from_pretrained("${original}", dtype="auto")`),
          `${name} ${merge}`,
        );
      assert.deepEqual(
        blocks['ollama merge']?.placeholders,
        original === 'BASE_MODEL_16BIT' ? [original] : [],
      );
      assert.match(blocks['llamacpp convert']?.text ?? '', new RegExp(`--base-model-id ${original}`));
    }
    for (const name of UNLOADABLE) {
      const report = await sampled(base(name));
      assert.deepEqual(
        [
          report.problems.filter(({ severity }) => severity === 'error').map(({ code }) => code),
          shownRecipes(report).tools,
        ],
        [['base-unloadable'], []],
        name,
      );
    }
    for (const name of TEXT) {
      const codes = (await sampled(base(name))).problems.map(({ code }) => code);
      assert.deepEqual(
        codes.filter((code) => code !== 'base-model-is-path'),
        [],
        name,
      );
    }
  });

  it('upgrades each tool that it installs', async () => {
    const { tools } = shownRecipes(await sampled({}));
    const installs = tools.flatMap(({ blocks }) => blocks.filter(({ purpose }) => purpose === 'install'));
    assert.equal(installs.length, 3);
    for (const { text } of installs) assert.match(text, /pip install -U /);
  });

  it('shows the newest complete checkpoint of a folder or an archive', async () => {
    const shown: Record<string, readonly (string | undefined)[]> = {};
    const files = sampleAdapter();
    for (const [title, folders] of Object.entries(CHECKPOINTS)) {
      const all: Record<string, Buffer> = {};
      for (const [folder, state] of Object.entries(folders))
        for (const [name, bytes] of Object.entries(files)) {
          if (name === WEIGHTS && state === 'config') continue;
          const isWeights = name === WEIGHTS;
          all[path.posix.join(folder, name)] =
            isWeights && state === 'cut'
              ? bytes.subarray(0, -9)
              : isWeights && state === 'empty'
                ? writeTensors([])
                : bytes;
        }
      const folder = await mkdtemp(path.join(place.folder, 'checkpoints-'));
      for (const [name, bytes] of Object.entries(all)) {
        await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
        await writeFile(path.join(folder, name), bytes);
      }
      const inRoot = Object.fromEntries(Object.entries(all).map(([name, bytes]) => [`out/${name}`, bytes]));
      for (const [kind, report] of Object.entries({
        folder: await inspectionReport(folder),
        ZIP: await place.inspect(zipOf(all)),
        'ZIP with a root folder': await place.inspect(zipOf(inRoot)),
      }))
        shown[`${title}, ${kind}`] = said(report).slice(0, 3);
    }
    golden('adapter-checkpoints', shown);
  });

  it('recognizes MLX in a folder, in a ZIP, and with weights of NumPy', async () => {
    const folder = path.join(FIXTURES, 'a04-mlx-adapter');
    const [config, weights] = await Promise.all(
      ['adapter_config.json', 'adapters.safetensors'].map((name) => readFile(path.join(folder, name))),
    );
    const archives: Record<string, Buffer>[] = [
      { 'adapter_config.json': config!, 'adapters.safetensors': weights! },
      { 'out/adapter_config.json': config!, 'out/adapters.npz': Buffer.from('PK') },
      { 'adapters.npz': Buffer.from('PK') },
      { 'adapters.safetensors': weights! },
      { 'adapter_config.json': Buffer.from('{"fine_tune_type":"full","model":"a/b"}'), [WEIGHTS]: weights! },
    ];
    for (const archive of archives) {
      const report = await place.inspect(zipOf(archive));
      assert.deepEqual(report.verdict, { code: 'other-format', detail: 'MLX' });
      assert.deepEqual(report.problems, []);
      const { tools, mend } = shownRecipes(report);
      assert.deepEqual([tools, mend.map(({ purpose }) => purpose)], [[], ['install', 'fuse']]);
    }
  });
});
