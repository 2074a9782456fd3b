import assert from 'node:assert/strict';
import type { AdapterConfig } from '../../../../src/core/adapters/peftConfig.ts';
import {
  type AdapterProblem,
  type AdapterProblemCode,
  FAULTS,
  type ArchiveFault,
} from '../../../../src/core/adapters/problems.ts';
import type { AdapterOnDisk } from '../../../../src/core/adapters/recipeFacts.ts';
import { recipesOf, type Recipe } from '../../../../src/core/adapters/recipes.ts';
import type {
  AdapterReport,
  LoraPair,
  Measurements,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';
import type {
  AdapterBlock,
  AdapterNote,
  AdapterPageState,
  AdapterTool,
  AdapterVerdict,
} from '../../../../src/ui/adapters/protocol.ts';
import { adding, sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { FOLDER, Place, zipOf } from '../../../helpers/adapters/support.ts';
import { changedLines, golden, pictured } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const reports = await withVscode(() => import('../../../../src/ui/adapters/adapterOverview.ts'));
const verdicts = await withVscode(() => import('../../../../src/ui/adapters/adapterVerdict.ts'));
const recipes = await withVscode(() => import('../../../../src/ui/adapters/adapterRecipes.ts'));
type WorkEnd = Parameters<typeof words.workResult>[2];

const words = await withVscode(() => import('../../../../src/ui/adapters/adapterPageView.ts'));

const WINDOWS: AdapterOnDisk = { folder: "C:\\Users\\Jo O'Neil\\my 100% run", platform: 'win32' };

const report: AdapterReport = {
  file: '/a.zip',
  verdict: { code: 'adapter' },
  container: 'zip',
  sizeBytes: 1_000,
  entries: [],
  entryCount: 0,
  root: '',
  problems: [],
};
const measurements: Measurements = {
  zeroPairs: 0,
  values: 10,
  nans: 0,
  infinities: 0,
  nonFinite: [],
  hasNoEffect: false,
  notMeasured: [],
};
const pair: LoraPair = {
  path: 'a.q_proj',
  layer: 0,
  module: 'q_proj',
  rank: 8,
  scale: 2,
  hasMagnitude: false,
};
const weights: WeightsReport = {
  parameters: 1_234,
  dtypes: [{ dtype: 'BF16', tensors: 2 }],
  pairs: [pair],
  layers: [0],
  modules: ['q_proj'],
  minRank: 8,
  maxRank: 8,
  savedModules: [],
  hasBias: false,
};

describe('the adapter page', () => {
  const place = new Place();
  const problem = (code: AdapterProblemCode, more: Partial<AdapterProblem> = {}): AdapterProblem => ({
    code,
    severity: 'warning',
    count: 1,
    examples: ['x'],
    ...more,
  });
  const error = problem('rank-missing', { severity: 'error' });
  const noteText = ({ severity, text, examples, more }: AdapterNote) =>
    [severity, text, ...(examples ?? []), ...(more === undefined ? [] : [more])].join(' | ');
  const verdictOf = (more: Partial<AdapterReport>, measured?: Partial<Measurements>) =>
    verdicts.adapterVerdict({ ...report, ...more }, measured && { ...measurements, ...measured });
  const shown = (message: Partial<AdapterPageState>, ...lines: (string | undefined)[]) =>
    pictured('adapter', { type: 'page', ...message }, lines);
  const verdictText = ({ kind, title, sentences }: AdapterVerdict) =>
    [`${kind}: ${title}`, ...sentences].join(' | ');
  const verdict = (...given: Parameters<typeof verdictOf>) => {
    const found = verdictOf(...given);
    return shown({ verdict: found }, verdictText(found));
  };
  const overview = (more: Partial<AdapterReport>) => {
    const { sections, files } = reports.adapterOverview({ ...report, ...more }, undefined, true);
    return shown(
      { verdict: verdictOf(more), sections, files },
      verdictText(verdictOf(more)),
      ...sections.flatMap(({ title, facts = [], notes = [] }) => [
        `# ${title}`,
        ...notes.map(noteText),
        ...facts.map(({ name, value, hasCopy, opens, more = '' }) => {
          const buttons = opens && [...opens.map((one) => `[${one}]`), more].join(' ');
          return `${name}: ${buttons ?? value}${hasCopy === true ? ' [Copy]' : ''}`;
        }),
      ]),
      ...(files === undefined ? [] : [`# ${files.title}`]),
      ...(files?.rows ?? []).map(({ name, size, note }) => [name, size, note].join(' | ')),
      files?.more,
    );
  };

  it('says what a file is, and never calls an adapter complete that has errors, broken values or no effect', () => {
    const faults = Object.keys(FAULTS) as ArchiveFault[];
    const unused = problem('target-without-weights', { severity: 'info', examples: ['v_proj'] });
    golden('adapter-verdicts', {
      ...Object.fromEntries(
        faults.map((fault) => [
          `unsafe: ${fault}`,
          verdict({ verdict: { code: 'unsafe', fault, entry: '../evil' } }),
        ]),
      ),
      'an unknown tensor type': verdict({
        verdict: { code: 'unsupported', fault: 'dtype', entry: 'a', detail: 'F7' },
      }),
      'no problems': verdict({}),
      'embeddings are saved': verdict({ problems: [problem('embeddings-saved', { severity: 'info' })] }),
      'modules of the config without weights': verdict({ problems: [unused] }),
      'a layer without weights': verdict({
        problems: [problem('layer-without-weights', { severity: 'info', layer: 3, module: 'up_proj' })],
      }),
      'a warning': verdict({ problems: [problem('base-changed')] }),
      'an error': verdict({ problems: [error] }),
      'no effect': verdict({}, { hasNoEffect: true }),
      'no effect, with NaN': verdict({}, { hasNoEffect: true, nans: 1 }),
      infinities: verdict({}, { infinities: 1 }),
      'an error without effect': verdict({ problems: [error] }, { hasNoEffect: true }),
    });
    for (const code of ['ENOENT', 'toString']) assert.equal(verdicts.knownFault(code), undefined);
  });

  it('has a sentence for each problem, and counts further examples', () => {
    const codes = Object.keys(verdicts.problemSentences(error)) as AdapterProblemCode[];
    const noted = (code: AdapterProblemCode, more?: Partial<AdapterProblem>) => {
      const note = verdicts.problemNote(problem(code, more));
      return shown({ sections: [{ title: code, notes: [note] }] }, noteText(note));
    };
    golden('adapter-problems', {
      ...Object.fromEntries(codes.map((code) => [code, noted(code)])),
      'more than are named': noted('partner-missing', { count: 1_300, examples: ['a', 'b'] }),
      'as many as are named': noted('partner-missing', { count: 2, examples: ['a', 'b'] }),
      'none named': noted('partner-missing', { count: 2, examples: [] }),
      'two modules without weights': noted('target-without-weights', { count: 2, examples: ['a', 'b'] }),
      'a layer without weights': noted('layer-without-weights', { layer: 3, module: 'up_proj' }),
      'two layers without weights': noted('layer-without-weights', { count: 2, examples: ['a', 'b'] }),
      'two replaced modules': noted('base-replaced', { count: 2, examples: ['a', 'b'] }),
      'a layer of another width': noted('width-differs', { layer: 7, module: 'q_proj' }),
    });
  });

  it('shows facts, both values if config and weights differ, and once what loads another type', () => {
    const config = {
      ...{ peftType: 'LORA', baseModel: 'org/base', rank: 16, alpha: 32, useRslora: true, useDora: true },
      ...{ isAlora: true, targetModules: ['q_proj'], modulesToSave: ['lm_head'] },
    } as unknown as AdapterConfig;
    const unused = problem('target-without-weights', { severity: 'info', examples: ['v_proj'] });
    golden('adapter-overview', {
      'config and weights differ': overview({ config, weights }),
      'another type': overview({
        problems: [problem('not-lora', { actual: 'IA3', examples: [] })],
        weights: { ...weights, pairs: [], modules: [], layers: [] },
      }),
      'only notes': overview({ problems: [unused] }),
      'notes and problems': overview({
        problems: [unused, problem('width-differs', { layer: 7, module: 'q_proj' })],
      }),
      'many checkpoints': overview({ checkpoints: Array.from({ length: 22 }, (_, at) => `c-${at}`) }),
      'many entries': overview({
        entries: [{ name: 'a.bin', sizeBytes: 5, kind: 'pickle' }],
        entryCount: 300,
      }),
    });
  });

  const blockLines = ({ title, hint, text }: AdapterBlock, hasText = true) => [
    [`# ${title}`, ...(hint === undefined ? [] : [hint])].join(' | '),
    ...(hasText ? text.split('\n') : []),
  ];
  const toolText = ({ warnings, blocks, notes }: AdapterTool, hasText = false) => [
    ...warnings.map(noteText),
    ...blocks.flatMap((one) => blockLines(one, hasText)),
    ...notes.map(noteText),
  ];

  it('has a sentence for each note on a tool, and shows only the refusal if a tool refuses', () => {
    const block = { purpose: 'serve', text: 'a', placeholders: [] } as const;
    const full: Partial<Recipe> = { blocks: [block], warnings: ['needs-wsl'], notes: ['model-name'] };
    const shown = (changes: Partial<Recipe>, baseModel?: string) =>
      toolText(
        recipes.adapterTool({ tool: 'vllm', blocks: [], warnings: [], notes: [], ...changes }, baseModel, ''),
      );
    const every = Object.entries(recipes.noteSentences('vLLM', '', 'train.holdout.my-run.answers.jsonl'));
    const general = { notes: ['same-base'], tools: [], mend: [], answers: '', hub: [] } as const;
    const { notes } = recipes.adapterRecipes(general, undefined, '/a', undefined, '/a');
    const bare = { text: 'a', placeholders: [] } as const;
    golden('adapter-recipe-notes', {
      ...Object.fromEntries(every),
      'for all tools': notes.map(noteText),
      'a refusal': shown({ ...full, refusal: 'dora' }),
      'no refusal': shown(full),
      'titles, placeholders and the shell': shown({
        blocks: [
          { ...bare, purpose: 'load' },
          { ...bare, purpose: 'load-and-run' },
          { ...bare, purpose: 'create', placeholders: ['BASE', 'NAME'], shell: 'PowerShell' },
          { ...bare, purpose: 'run' },
        ],
      }),
      'a base that is not a repository': shown({ notes: ['base-unknown'] }, 'Qwen3 8B'),
      'a base without a name': shown({ notes: ['base-unknown'] }, ''),
      'no base': shown({ notes: ['base-unknown'] }),
    });
  });

  it('folds long code', () => {
    const blocks = [12, 13].map((lines) => ({
      ...{ purpose: 'load', text: 'x\n'.repeat(lines - 1), placeholders: [] },
    })) as unknown as Recipe['blocks'];
    const shown = recipes.adapterTool({ tool: 'peft', blocks, warnings: [], notes: [] }, undefined, '');
    assert.deepEqual(
      shown.blocks.map(({ fold }) => fold),
      [undefined, 'Code (13 lines)'],
    );
  });

  it('has the commands of each tool, in the platform’s shell and with the user’s path and the config’s base', async () => {
    const toolsOf = async (options: SampleOptions, more: Partial<AdapterOnDisk> = {}) => {
      const at = await place.inspect(zipOf(sampleAdapter(options)));
      const { folder, ...rest } = { folder: FOLDER, platform: 'linux', ...more };
      const found = recipesOf(at, { folder, ...rest });
      const { tools } = recipes.adapterRecipes(found, at.config?.baseModel, folder, undefined, at.file);
      // What reads the rows is the same text each time, and has a test of its own.
      const withoutReading = (lines: readonly string[]) => {
        const first = lines.findIndex((line) => line.endsWith('import json'));
        const last = lines.findIndex((line) => line.includes('sys.exit('));
        return first < 0 ? [...lines] : [...lines.slice(0, first), '…', ...lines.slice(last + 1)];
      };
      return new Map(tools.map((tool) => [tool.name, withoutReading(toolText(tool, true))]));
    };
    const page = (tools: ReadonlyMap<string, string[]>) =>
      [...tools].flatMap(([name, lines]) => [`== ${name}`, ...lines]);
    /** For each tool, the lines that differ, or why it can't load the adapter. */
    const differing = (now: ReadonlyMap<string, string[]>, before: ReadonlyMap<string, string[]>) => {
      const tools = [...now].map(([name, lines]) => {
        const diff = changedLines(lines, before.get(name) ?? []);
        const isRefused = diff.length > 0 && !lines.some((line) => line.startsWith('# '));
        return [name, isRefused ? lines : diff] as const;
      });
      return page(new Map(tools.filter(([, lines]) => lines.length > 0)));
    };
    const changed = async (options: SampleOptions, before: ReadonlyMap<string, string[]> = plain) =>
      differing(await toolsOf(options), before);
    const plain = await toolsOf({});
    const task = (task_type: unknown) => ({ config: { task_type } });
    const config = (values: Record<string, unknown>) => changed({ config: values });
    const other = await toolsOf(task('SEQ_2_SEQ_LM'));
    const cases: Record<string, readonly string[]> = {
      Linux: page(plain),
      Windows: page(await toolsOf({}, WINDOWS)),
      'a hold-out': differing(await toolsOf({}, { holdOut: '/home/jo/my data/train.holdout.jsonl' }), plain),
      'a hold-out on Windows': differing(
        await toolsOf({}, { ...WINDOWS, holdOut: 'C:\\Users\\Jo O\'Neil\\"data"\\train.holdout.jsonl' }),
        await toolsOf({}, WINDOWS),
      ),
      'a system message': differing(
        await toolsOf({}, { system: { text: 'Answer Jo’s "mail".\nIn short.' } }),
        plain,
      ),
      'a long system message': differing(await toolsOf({}, { system: { text: '' } }), plain),
      'no task': await changed(task(null)),
      'an unknown task': await changed(task('NEW_TASK')),
      SEQ_2_SEQ_LM: await changed(task('SEQ_2_SEQ_LM')),
    };
    for (const name of ['SEQ_CLS', 'TOKEN_CLS', 'QUESTION_ANS', 'FEATURE_EXTRACTION'])
      cases[`${name}, after SEQ_2_SEQ_LM`] = await changed(task(name), other);
    for (const rank of [16, 17, 64, 65, 300, 512, 513])
      cases[`rank ${rank}`] = await changed({ rank, layers: 1 });
    golden('adapter-recipes', {
      ...cases,
      'a larger rank in a pattern': await config({ rank_pattern: { k_proj: 48 } }),
      'a larger rank that no module has': await config({ r: 64, rank_pattern: { q_proj: 4, v_proj: 4 } }),
      'a revision': await config({ revision: 'v1.0' }),
      'a base that is a folder': await config({ base_model_name_or_path: '/mnt/x' }),
      rsLoRA: await changed({ rank: 9, config: { use_rslora: true } }),
      'another rank in the config': await config({ r: 8 }),
      'another alpha for all modules': await config({ alpha_pattern: { q_proj: 12, v_proj: 12 } }),
      'a base that PEFT changes': await config({ init_lora_weights: 'loftq' }),
      aLoRA: await config({ alora_invocation_tokens: [1] }),
      'repeated layers': await config({ layer_replication: [[0, 4]] }),
      'biases of LoRA': await config({ lora_bias: true }),
      'a replaced tensor of the base': await changed(
        adding('base_model.model.model.layers.0.mlp.up_proj.weight'),
      ),
      'another type': await config({ peft_type: 'PROMPT_TUNING' }),
      'biases of the base that were trained': await changed({
        config: { bias: 'all' },
        ...adding('base_model.model.model.layers.0.self_attn.q_proj.bias'),
      }),
    });
  });

  it('has the commands that publish an adapter, of which only a private repository is created', async () => {
    const at = await place.inspect(zipOf(sampleAdapter()));
    const published = (where: AdapterOnDisk) => {
      const publishing = recipes.adapterPublishing(recipesOf(at, where));
      const { title, notes, blocks } = publishing;
      return shown(
        { publishing },
        title,
        ...notes.map(noteText),
        ...blocks.flatMap((one) => blockLines(one)),
      );
    };
    golden('adapter-publishing', {
      Linux: published({ folder: FOLDER, platform: 'linux' }),
      Windows: published(WINDOWS),
    });
  });

  it('says in words what measuring would show, or found', () => {
    const text = (count: number, found?: Partial<Measurements>) => {
      const pairs = Array<LoraPair>(count).fill(pair);
      const measured = found && { ...measurements, ...found };
      const values = reports.adapterValues({ ...weights, pairs }, measured, measured === undefined);
      return shown({ values }, ...values.notes.map(noteText), values.measure && `[${values.measure}]`);
    };
    golden('adapter-values', {
      'not measured': text(2),
      'nothing to say': text(224, {}),
      'some learned nothing': text(1_224, { zeroPairs: 12 }),
      'the only one learned nothing': text(1, { zeroPairs: 1 }),
      'no effect': text(2, { zeroPairs: 2, hasNoEffect: true }),
      'broken values': text(2, { nans: 3, infinities: 1_200, nonFinite: ['a.lora_A', 'a.lora_B'] }),
      'types that are not measured': text(1, { values: 0, notMeasured: [{ dtype: 'F8_E4M3', tensors: 2 }] }),
    });
  });

  it('offers no copy of a path whose characters would act in a terminal', () => {
    for (const [file, copies] of [
      ['/a/é b', 1],
      ['/a\x03\ntouch x', 0],
      ['/a\x1b[201~', 0],
      ['/\u202ea', 0],
    ] as const)
      assert.equal(
        overview({ file, config: undefined }).filter((line) => line?.endsWith(' [Copy]')).length,
        copies,
      );
  });

  it('describes how work ended, by the error code of the disk or the archive', () => {
    const codes = ['disk-full', 'no-permission', 'folder-exists', 'not-an-adapter', 'checksum', ''];
    const ended = (kind: 'unpack' | 'measure', end: WorkEnd) => words.workResult('a.zip', kind, end).text;
    const cases = (['unpack', 'measure'] as const).flatMap((kind) => [
      ...codes.map(
        (code) => [`${kind} ${code}`, ended(kind, { outcome: 'failed', folder: '/a', code })] as const,
      ),
      [`${kind} canceled`, ended(kind, { outcome: 'cancelled' })] as const,
    ]);
    golden('adapter-work', {
      ...Object.fromEntries(cases),
      unpacked: ended('unpack', { outcome: 'done', folder: '/a', leftOut: ['x.bin'] }),
      'unpacked without many': ended('unpack', {
        outcome: 'done',
        folder: '/a',
        leftOut: 'a b c d e f g h i j k l'.split(' '),
      }),
    });
  });
});
