import assert from 'node:assert/strict';
import type { AdapterConfig } from '../../../../src/core/adapters/peftConfig.ts';
import {
  type AdapterProblem,
  type ProblemCode,
  FAULTS,
  type ArchiveFault,
} from '../../../../src/core/adapters/problems.ts';
import type { Recipe, RecipeNote } from '../../../../src/core/adapters/recipes.ts';
import type {
  AdapterReport,
  LoraPair,
  Measurements,
  PairMeasure,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const reports = await withVscode(() => import('../../../../src/ui/adapters/adapterOverview.ts'));
const recipes = await withVscode(() => import('../../../../src/ui/adapters/adapterRecipes.ts'));
const pictures = await withVscode(() => import('../../../../src/ui/adapters/adapterPicture.ts'));
const words = await withVscode(() => import('../../../../src/ui/adapters/adapterPageView.ts'));

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
  pairs: [],
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
  parameters: 1_234,
  isHalf: false,
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

describe('adapter page messages', () => {
  const problem = (code: ProblemCode, more: Partial<AdapterProblem> = {}): AdapterProblem => ({
    code,
    severity: 'warning',
    count: 1,
    examples: ['x'],
    ...more,
  });
  const verdict = (more: Partial<AdapterReport>, measured?: Partial<Measurements>) =>
    reports.adapterVerdict({ ...report, ...more }, measured && { ...measurements, ...measured });

  it('describe each archive fault and name the entry', () => {
    for (const fault of Object.keys(FAULTS) as ArchiveFault[]) {
      const sentence = reports.knownFault(fault) ?? '';
      assert.match(sentence, /^[A-Z].*\.$/, fault);
      const { sentences } = verdict({ verdict: { code: 'unsafe', fault, entry: '../evil' } });
      assert.ok(sentences.includes(sentence), fault);
      assert.ok(sentences.some((text) => text.endsWith('../evil')));
    }
    for (const code of ['ENOENT', 'toString']) assert.equal(reports.knownFault(code), undefined);
  });

  it('have a unique sentence for each problem, and count further examples', () => {
    const sentences = Object.values(reports.problemSentences(problem('rank-missing')));
    assert.equal(new Set(sentences).size, sentences.length);
    assert.ok(sentences.every((text) => /^\S.{15,}[.:]$/.test(text)));
    const more = (count: number, examples: string[]) =>
      reports.problemNote(problem('partner-missing', { count, examples })).more;
    assert.match(more(1_300, ['a', 'b']) ?? '', /1,298/);
    assert.equal(more(2, ['a', 'b']) ?? more(2, []), undefined);
  });

  it('never call an adapter complete if it has errors, broken values or no effect', () => {
    const error = problem('rank-missing', { severity: 'error' });
    for (const [problems, measured, kind] of [
      [[], undefined, 'clean'],
      [[problem('base-changed')], undefined, 'warning'],
      [[error], undefined, 'error'],
      [[], { hasNoEffect: true }, 'warning'],
      [[], { hasNoEffect: true, nans: 1 }, 'error'],
      [[], { infinities: 1 }, 'error'],
      [[error], { hasNoEffect: true }, 'error'],
    ] as const)
      assert.equal(verdict({ problems }, measured).kind, kind);
  });

  it('say that the weights match the config only if all of its modules have weights', () => {
    const unused = problem('target-without-weights', { severity: 'info', examples: ['v_proj'] });
    const shown = (problems: AdapterProblem[]) => {
      const { kind, sentences } = verdict({ problems });
      return [kind, sentences.some((text) => text.includes('match the config'))];
    };
    assert.deepEqual(shown([]), ['clean', true]);
    assert.deepEqual(shown([problem('embeddings-saved', { severity: 'info' })]), ['clean', true]);
    assert.deepEqual(shown([unused]), ['clean', false]);
    assert.deepEqual(shown([problem('width-differs')]), ['warning', false]);
    const titleOf = (problems: AdapterProblem[]) =>
      reports.adapterOverview({ ...report, problems }, undefined).sections[0]?.title;
    assert.deepEqual([titleOf([unused]), titleOf([unused, problem('width-differs')])], ['Notes', 'Problems']);
    const texts = [unused, problem('width-differs', { layer: 7, module: 'q_proj' })].map(reports.problemNote);
    assert.deepEqual(
      texts.map(({ text, examples }) => [text, examples]),
      [
        ['v_proj is in the config, but has no weights.', []],
        ['Layer 7’s q_proj has another width than the others; it loads only if the base model’s does.', []],
      ],
    );
    assert.deepEqual(reports.problemNote({ ...unused, count: 2, examples: ['a', 'b'] }).examples, ['a', 'b']);
  });

  it('say once what loads an adapter of another type', () => {
    const other = problem('not-lora', { actual: 'IA3', examples: [] });
    const none = { ...weights, pairs: [], modules: [], layers: [] };
    const { verdict: shown, sections } = reports.adapterOverview(
      { ...report, problems: [other], weights: none },
      undefined,
    );
    assert.ok(sections.every(({ facts = [] }) => facts.every(({ name }) => name !== 'Adapted modules')));
    assert.deepEqual(shown, {
      kind: 'warning',
      title: 'Not a LoRA adapter',
      sentences: ['Only PEFT loads adapters of its type, IA3.'],
    });
    assert.ok(sections.every(({ notes = [] }) => notes.length === 0));
  });

  it('name an unknown tensor type, and do not ask to unpack the file', () => {
    const { title, sentences } = verdict({
      verdict: { code: 'unsupported', fault: 'dtype', entry: 'a', detail: 'F7' },
    });
    assert.deepEqual(
      [title, ...sentences],
      ['Unsupported weights', 'A tensor has an unknown type.', 'Type: F7', 'Entry: a'],
    );
  });

  const toolOf = (changes: Partial<Recipe>, baseModel?: string) =>
    recipes.adapterTool({ tool: 'vllm', blocks: [], warnings: [], notes: [], ...changes }, baseModel);

  it('have a unique sentence for each note, and show only the refusal if a tool refuses', () => {
    const texts = Object.values(recipes.noteSentences('vLLM'));
    assert.equal(new Set(texts).size, texts.length);
    assert.ok(texts.every((text) => /^\S.{20,}\.$/.test(text)));
    const block = { purpose: 'serve', text: 'a', placeholders: [] } as const;
    const rest: Partial<Recipe> = { blocks: [block], warnings: ['needs-wsl'], notes: ['model-name'] };
    const shown = (refusal: RecipeNote) => {
      const { warnings, blocks, notes } = toolOf({ ...rest, refusal });
      return [warnings[0]?.severity, warnings.length, blocks.length, notes.length];
    };
    assert.deepEqual(shown('dora'), ['error', 1, 0, 0]);
    // The commands help once the file exists.
    assert.deepEqual(shown('config-missing'), ['error', 2, 1, 1]);
  });

  it('show notes for all tools once, and title commands by their purpose', () => {
    const { notes } = recipes.adapterRecipes({ notes: ['same-base'], tools: [] }, undefined, '/a', undefined);
    assert.deepEqual(notes, [{ severity: 'info', text: recipes.noteSentences('')['same-base'] }]);
    const block = { text: 'a', placeholders: [] } as const;
    const { blocks } = toolOf({
      blocks: [
        { ...block, purpose: 'load' },
        { ...block, purpose: 'load-and-run' },
      ],
    });
    assert.deepEqual(
      blocks.map(({ title }) => title),
      ['Load', 'Load and run'],
    );
  });

  it('name a base model that is not a repository, the placeholders and the shell', () => {
    const base = (name?: string) => toolOf({ notes: ['base-unknown'] }, name).notes[0]?.text ?? '';
    assert.match(base('Qwen3 8B'), /“Qwen3 8B”.*BASE_MODEL/);
    assert.ok(base() === base('') && !base().includes('“'));
    const create = { purpose: 'create', text: 'a', placeholders: ['BASE', 'NAME'] } as const;
    const run = { purpose: 'run', text: 'd', placeholders: [] } as const;
    const [first, last] = toolOf({ blocks: [{ ...create, shell: 'PowerShell' }, run] }).blocks;
    assert.match(first?.title ?? '', /\(PowerShell\)$/);
    assert.ok(first?.hint?.includes('BASE, NAME') && last?.hint === undefined && !last?.title.includes('('));
  });

  it('show facts, and both values if config and weights differ', () => {
    const config = {
      peftType: 'LORA',
      baseModel: 'org/base',
      rank: 16,
      alpha: 32,
      useRslora: true,
      useDora: true,
      isAlora: true,
      targetModules: ['q_proj'],
      modulesToSave: ['lm_head'],
    } as unknown as AdapterConfig;
    const { sections } = reports.adapterOverview({ ...report, config, weights }, undefined);
    const facts = new Map(
      sections.flatMap((section) => section.facts ?? []).map(({ name, value }) => [name, value]),
    );
    for (const [name, value] of [
      ['Type', 'LoRA, rsLoRA, DoRA, aLoRA'],
      ['Rank', '8 in the weights, 16 in the config'],
      ['Scaling', '2 (alpha ÷ √rank)'],
      ['Fully saved modules', 'lm_head'],
      ['Layers', '1: 0'],
      ['Parameters', '1,234'],
      ['Path', '/a.zip'],
    ])
      assert.equal(facts.get(name!), value);
    const entries: AdapterReport['entries'] = [{ name: 'a.bin', sizeBytes: 5, kind: 'pickle' }];
    const { files } = reports.adapterOverview({ ...report, entries, entryCount: 300 }, undefined);
    assert.match(files?.rows[0]?.note ?? '', /not opened/);
    assert.match(files?.more ?? '', /299/);
  });

  /** @param paths layers and modules, such as `0 q_proj`, with `-` for modules outside of layers */
  const pictureOf = (paths: string[], measures?: Partial<PairMeasure>[], changes: Partial<LoraPair> = {}) => {
    const pairs = paths.map((path, at): LoraPair => {
      const [layer, module = ''] = path.split(' ');
      return {
        ...pair,
        path: `${path} ${at}`,
        layer: Number(layer),
        module,
        ...(layer === '-' && { layer: undefined }),
        ...changes,
      };
    });
    const layers = [...new Set(pairs.map(({ layer }) => layer))].filter((layer) => layer !== undefined);
    const measured = measures?.map((one, at) => ({
      path: `${paths[at]} ${at}`,
      isZero: false,
      nonFinite: 0,
      ...one,
    }));
    const nans = measured?.reduce((sum, one) => sum + one.nonFinite, 0) ?? 0;
    const all = measured && { ...measurements, pairs: measured, nans };
    return pictures.adapterPicture({ ...weights, pairs, layers }, all, true);
  };

  it('shade each cell by its state, and list only used shades in the legend', () => {
    const two = ['0 experts.*.w', '0 experts.*.w'];
    for (const [paths, measures, shade, legend, value] of [
      [['0 q'], undefined, 'adapted', ['adapted'], 'r 8'],
      [['0 q'], [{ norm: 3 }], 1, [0.1, 1], '3'],
      [['0 q'], [{ norm: 0, isZero: true }], 'zero', ['zero'], '0'],
      [['0 q'], [{ nonFinite: 2 }], 'bad', ['bad'], 'NaN or infinity'],
      [['0 q'], [{}], 'unknown', ['unknown'], 'norm unknown'],
      // A cell's norm is the root of the sum of squares.
      [two, [{ norm: 3 }, { norm: 4, isZero: true }], 1, [0.1, 1], '5'],
    ] as const) {
      const { rows, legend: shown, findings } = pictureOf([...paths], measures && [...measures]);
      const [cell] = rows[0]!.cells;
      assert.deepEqual([cell?.shade, shown.map((one) => one.shade), cell?.value], [shade, legend, value]);
      const isError = findings.some(({ severity }) => severity === 'error');
      assert.equal(isError, shade === 'bad');
    }
    assert.equal(pictureOf(['0 q'], [{ norm: 3 }], { isHalf: true }).rows[0]?.cells[0]?.shade, 'half');
    const text = pictureOf(['0 q'], [{ norm: 3 }]).rows[0]?.cells[0]?.text;
    assert.equal(text, 'q, layer 0: rank 8, 1,234 parameters, norm 3');
  });

  it('draw layers in order and experts of a kind together, up to the limits of the page', () => {
    const drawn = (...paths: string[]) => {
      const { columns, rows } = pictureOf(paths);
      const cells = rows.map(({ name, cells }) => [
        name,
        ...cells.map(({ shade }) => (shade === 'none' ? 0 : 1)),
      ]);
      return [columns.map(({ short }) => short).join(), ...cells.map((row) => row.join(' '))];
    };
    assert.deepEqual(drawn('1 q', '3 q', '3 v', '- lm_head'), [
      '0,1,2,3,–',
      'q 0 1 0 1 0',
      'v 0 0 0 1 0',
      'lm_head 0 0 0 0 1',
    ]);
    assert.deepEqual(drawn('0 experts.*.up', '0 experts.*.up', '0 w'), ['0', 'experts.*.up 1', 'w 1']);
    assert.equal(drawn('7 q', '90000 q')[0], '7,90000');
    assert.equal(drawn('500 q', '502 q')[0], '500,501,502');
    const many = (count: number, path: (index: number) => string) =>
      Array.from({ length: count }, (_, at) => path(at));
    const cut = pictureOf([...many(300, (layer) => `${layer} q`), ...many(100, (at) => `0 m${at}`)]);
    assert.deepEqual([cut.columns.length, cut.rows.length], [200, 60]);
    assert.match(cut.cut ?? '', /100.*41/);
    // More than a call can have arguments.
    const experts = pictureOf(many(150_000, () => '0 experts.*.up'));
    assert.match(experts.rows[0]?.cells[0]?.text ?? '', /150,000/);
  });

  it('describe how work ended, by the error code of the disk or the archive', () => {
    const texts = (['unpack', 'measure'] as const).flatMap((kind) => [
      ...['disk-full', 'no-permission', 'folder-exists', 'not-an-adapter', 'checksum', ''].map(
        (code) => words.workResult('a.zip', kind, { outcome: 'failed', folder: '/a', code }).text,
      ),
      words.workResult('a.zip', kind, { outcome: 'cancelled' }).text,
    ]);
    assert.equal(new Set(texts.slice(0, 7)).size, 7);
    assert.ok(texts[4]!.includes(reports.knownFault('checksum')!));
    const done = words.workResult('a', 'unpack', { outcome: 'done', folder: '/a', leftOut: ['x.bin'] });
    assert.match(done.text, /\/a.*x\.bin/);
  });
});
