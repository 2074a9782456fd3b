import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ModuleHooks } from 'node:module';
import ts from 'typescript';
import { gridOf } from '../../../../src/core/adapters/adapterGrid.ts';
import type {
  AdapterProblem,
  AdapterReport,
  ArchiveFault,
  LoraPair,
  Measurements,
  ProblemCode,
  Recipe,
  TrapCode,
  VerdictCode,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

/** The words of a union of texts in the types of the adapter room. */
function wordsOf(type: string): string[] {
  const statements = ['report', 'recipe/recipe'].flatMap((name) => {
    const file = new URL(`../../../../src/core/adapters/${name}.ts`, import.meta.url);
    return ts.createSourceFile(name, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true).statements;
  });
  const found = statements.find(
    (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === type,
  );
  assert.ok(found !== undefined && ts.isUnionTypeNode(found.type), type);
  return found.type.types.map((one) => {
    assert.ok(ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal));
    return one.literal.text;
  });
}

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
  update: 1,
  values: 10,
  nans: 0,
  infinities: 0,
  nonFinite: [],
  zeroPairs: 0,
  hasNoEffect: false,
  notMeasured: [],
};

describe('the words of the adapter page', () => {
  let hooks: ModuleHooks;
  let verdicts: typeof import('../../../../src/ui/adapters/verdictMessages.ts');
  let problems: typeof import('../../../../src/ui/adapters/problemMessages.ts');
  let recipes: typeof import('../../../../src/ui/adapters/recipeMessages.ts');
  let facts: typeof import('../../../../src/ui/adapters/factMessages.ts');
  let pictures: typeof import('../../../../src/ui/adapters/pictureMessages.ts');
  let words: typeof import('../../../../src/ui/adapters/messages.ts');

  before(async () => {
    hooks = standInForVscode();
    verdicts = await import('../../../../src/ui/adapters/verdictMessages.ts');
    problems = await import('../../../../src/ui/adapters/problemMessages.ts');
    recipes = await import('../../../../src/ui/adapters/recipeMessages.ts');
    facts = await import('../../../../src/ui/adapters/factMessages.ts');
    pictures = await import('../../../../src/ui/adapters/pictureMessages.ts');
    words = await import('../../../../src/ui/adapters/messages.ts');
  });
  after(() => hooks.deregister());

  const problem = (code: string, more: Partial<AdapterProblem> = {}): AdapterProblem => ({
    code: code as ProblemCode,
    severity: 'warning',
    count: 1,
    examples: ['x'],
    ...more,
  });

  it('have a title and what to do for each verdict', () => {
    const titles = wordsOf('VerdictCode').map((code) => {
      const { title, sentences } = verdicts.adapterVerdict(
        { ...report, verdict: { code: code as VerdictCode } },
        undefined,
      );
      assert.ok(sentences.length > 0 && sentences.every((text) => text.endsWith('.')), code);
      return title;
    });
    assert.equal(new Set(titles).size, titles.length);
  });

  it('say what is wrong with an archive, and with which entry', () => {
    for (const fault of wordsOf('ArchiveFault') as ArchiveFault[]) {
      assert.match(verdicts.knownFault(fault) ?? '', /^[A-Z].*\.$/, fault);
      const { sentences } = verdicts.adapterVerdict(
        { ...report, verdict: { code: 'unsafe', fault, entry: '../evil' } },
        undefined,
      );
      assert.ok(sentences.includes(verdicts.knownFault(fault) ?? ''), fault);
      assert.ok(sentences.some((text) => text.endsWith('../evil')));
    }
    assert.equal(verdicts.knownFault('ENOENT'), undefined);
  });

  it('have a sentence of its own for each problem', () => {
    const sentences = wordsOf('ProblemCode').map((code) => {
      const { text } = problems.problemNote(problem(code));
      assert.doesNotMatch(text, /unusual \(/, code);
      return text;
    });
    assert.equal(new Set(sentences).size, sentences.length);
  });

  it('say how many more there are than are named', () => {
    const note = (count: number, examples: string[]) =>
      problems.problemNote(problem('partner-missing', { count, examples }));
    assert.equal(note(1_300, ['a', 'b']).more, 'and 1,298 more');
    assert.match(note(1_300, ['a', 'b']).text, /^1,300 modules /);
    assert.equal(note(2, ['a', 'b']).more, undefined);
    assert.equal(note(2, []).more, undefined);
  });

  it('never call an adapter good that has errors, broken values or no effect', () => {
    const verdict = (more: Partial<AdapterReport>, measured?: Partial<Measurements>) =>
      verdicts.adapterVerdict({ ...report, ...more }, measured && { ...measurements, ...measured });
    assert.equal(verdict({}).kind, 'clean');
    assert.equal(verdict({ problems: [problem('uses-dora', { severity: 'info' })] }).kind, 'clean');
    assert.equal(verdict({ problems: [problem('uses-dora')] }).kind, 'warning');
    assert.equal(verdict({ problems: [problem('rank-missing', { severity: 'error' })] }).kind, 'error');
    assert.match(verdict({}, { hasNoEffect: true }).title, /changes nothing/);
    assert.equal(verdict({}, { hasNoEffect: true, nans: 1 }).kind, 'error');
    assert.equal(verdict({}, { infinities: 1 }).kind, 'error');
    const lost = verdict(
      { problems: [problem('rank-missing', { severity: 'error' })] },
      { hasNoEffect: true },
    );
    assert.equal(lost.kind, 'error');
  });

  const toolOf = (changes: Partial<Recipe>, baseModel?: string) =>
    recipes.adapterTool(
      { tool: 'vllm', blocks: [], warnings: [], traps: [], applicable: true, ...changes },
      baseModel,
    );

  it('have a sentence of its own for each trap, and say once why a tool refuses', () => {
    const traps = wordsOf('TrapCode') as TrapCode[];
    const told = toolOf({ traps }).traps;
    assert.deepEqual(toolOf({ warnings: traps }).warnings, told);
    assert.equal(new Set(told).size, traps.length);
    assert.ok(told.every((text) => /^\S.{20,}\.$/.test(text)));
    const block = { purpose: 'serve', language: 'sh', text: 'a', placeholders: [] } as const;
    const refused = toolOf({
      blocks: [block],
      applicable: false,
      why: 'vllm-modules-to-save',
      warnings: ['vllm-modules-to-save'],
      traps: ['same-base'],
    });
    assert.match(refused.refusal ?? '', /modules_to_save/);
    assert.deepEqual([refused.blocks, refused.warnings, refused.traps], [[], [], []]);
    const lacking = toolOf({
      applicable: false,
      why: 'config-missing',
      traps: ['same-base'],
    });
    assert.match(lacking.refusal ?? '', /adapter_config\.json, which is missing\.$/);
    assert.equal(lacking.traps.length, 1);
    assert.match(toolOf({ applicable: false }).refusal ?? '', /^vLLM cannot/);
  });

  it('say of a base that the config names, but not as a hub does, what it is called there', () => {
    const [named] = toolOf({ traps: ['base-unknown'] }, 'Qwen3 8B').traps;
    assert.match(named ?? '', /calls the model that was trained on “Qwen3 8B”.* in place of BASE_MODEL\.$/);
    for (const baseModel of [undefined, ''])
      assert.match(
        toolOf({ traps: ['base-unknown'] }, baseModel).traps[0] ?? '',
        /is not known from the config/,
      );
  });

  it('name what to replace, and alternatives by their language', () => {
    const { blocks } = toolOf({
      tool: 'ollama',
      blocks: [
        { purpose: 'create', language: 'powershell', text: 'a', placeholders: ['BASE'] },
        { purpose: 'create', language: 'cmd', text: 'b', placeholders: ['BASE', 'NAME'] },
        { purpose: 'modelfile', language: 'modelfile', text: 'c', placeholders: [] },
        { purpose: 'run', language: 'sh', text: 'd', placeholders: [] },
      ],
    });
    assert.deepEqual(
      blocks.map(({ title }) => title),
      [
        'Create the model (PowerShell)',
        'Create the model (cmd)',
        'A file called Modelfile, in the merged model’s folder',
        'Run',
      ],
    );
    assert.match(blocks[1]?.hint ?? '', /BASE, NAME/);
    assert.deepEqual([blocks[2]?.text, blocks[2]?.hint], ['c', undefined]);
  });

  const pair: LoraPair = {
    path: 'a.q_proj',
    layer: 0,
    module: 'q_proj',
    rank: 8,
    scale: 2,
    dtype: 'BF16',
    parameters: 1_234,
    hasA: true,
    hasB: true,
    isEmbedding: false,
    hasMagnitude: false,
  };
  const weights: WeightsReport = {
    files: ['adapter_model.safetensors'],
    sizeBytes: 2_468,
    tensors: 2,
    parameters: 1_234,
    dtypes: [{ dtype: 'BF16', tensors: 2, parameters: 1_234, sizeBytes: 2_468 }],
    pairs: [pair],
    layers: [0],
    modules: ['q_proj'],
    minRank: 8,
    maxRank: 8,
    savedModules: [],
    touchesEmbeddings: false,
    touchesLmHead: false,
    hasBias: false,
    metadata: {},
  };

  it('tell facts, and where config and weights differ both', () => {
    const config = {
      peftType: 'LORA',
      baseModel: 'org/base',
      rank: 16,
      alpha: 32,
      rankPattern: {},
      alphaPattern: {},
      useRslora: true,
      useDora: true,
      fanInFanOut: false,
      isAlora: true,
      repeatsLayers: false,
      loraBias: false,
      targetModules: ['q_proj'],
      targetParameters: [],
      modulesToSave: ['lm_head'],
      bias: 'none',
    };
    const told = new Map(
      facts.adapterFacts({ ...report, config, weights }).map(({ name, value }) => [name, value]),
    );
    assert.equal(told.get('Kind'), 'LoRA, rsLoRA, DoRA, aLoRA');
    assert.equal(told.get('Rank'), '8 by the weights, 16 by the config');
    assert.equal(told.get('Scaling'), '2 (alpha ÷ √rank)');
    assert.equal(told.get('Stored whole'), 'lm_head');
    assert.equal(told.get('Layers'), '1: 0');
    assert.equal(told.get('Parameters'), '1,234');
    const bare = facts.adapterFacts(report).map(({ name }) => name);
    assert.deepEqual(bare, ['On disk', 'Path']);
  });

  it('say of files what was not opened', () => {
    const files = facts.adapterFiles({
      ...report,
      entries: [{ name: 'a.bin', sizeBytes: 5, kind: 'pickle' }],
      entryCount: 300,
    });
    assert.deepEqual(files?.rows, [{ name: 'a.bin', size: '5 bytes', note: 'pickle: never opened' }]);
    assert.equal(files.more, 'and 299 more');
  });

  it('paint each cell by what is known of it, and explain only what is painted', () => {
    const shades = (pairs: LoraPair[], measured?: Partial<Measurements>) => {
      const all = measured && { ...measurements, ...measured };
      const picture = pictures.adapterPicture(gridOf({ ...weights, pairs }, all), all, true);
      return {
        cells: picture.rows[0]?.cells.map(({ shade }) => shade),
        text: picture.rows[0]?.cells[0]?.text ?? '',
        legend: picture.legend.map(({ shade }) => shade),
      };
    };
    const matrix = { norm: 1, nans: 0, infinities: 0, isZero: false };
    const zero = { ...matrix, norm: 0, isZero: true };
    const one = { path: pair.path, layer: 0, module: 'q_proj', a: matrix, b: matrix };
    assert.deepEqual(shades([pair]), {
      cells: ['adapted'],
      text: 'q_proj, layer 0: rank 8, 1,234 parameters',
      legend: ['adapted'],
    });
    assert.deepEqual(shades([{ ...pair, hasB: false }]).cells, ['half']);
    assert.deepEqual(shades([pair], { pairs: [{ ...one, update: 3 }] }).cells, [1]);
    assert.match(shades([pair], { pairs: [{ ...one, updateBound: 3 }] }).text, /norm at most 3$/);
    const nothing = shades([pair], { pairs: [{ ...one, b: zero, update: 0 }] });
    assert.deepEqual(nothing.cells, ['zero']);
    assert.match(nothing.text, /changes nothing$/);
    const broken = shades([pair], { pairs: [{ ...one, a: { ...matrix, norm: NaN, nans: 2 } }] });
    assert.deepEqual([broken.cells, broken.legend], [['bad'], ['bad']]);
    assert.match(broken.text, /NaN or infinite values: 2/);
    const all = { ...measurements, nans: 2, pairs: [{ ...one, a: { ...matrix, nans: 2 } }] };
    const picture = pictures.adapterPicture(gridOf(weights, all), all, true);
    assert.deepEqual(
      picture.rows.map(({ total }) => total),
      ['NaN', 'NaN'],
    );
    assert.equal(picture.findings.length, 1);
    assert.deepEqual(shades([pair], { pairs: [one] }).cells, ['unknown']);
  });

  it('tell how work ended, by the code of the disk or of the archive', () => {
    const text = (kind: 'measure' | 'unpack', code?: string) =>
      words.workEndText('a.zip', kind, {
        outcome: 'failed',
        folder: '/a',
        ...(code === undefined ? {} : { code }),
      });
    assert.match(text('unpack', 'disk-full'), /^The disk is full/);
    assert.match(text('unpack', 'no-permission'), /^\/a may not be written/);
    assert.match(text('unpack', 'folder-exists'), /stays as it is/);
    assert.match(text('unpack', 'zip-crc'), /could not be unpacked.*checksum/);
    assert.match(text('measure', 'truncated'), /could not be measured.*ends too early/);
    assert.match(text('measure'), /The log tells more\.$/);
    assert.match(words.workEndText('a', 'unpack', { outcome: 'cancelled' }), /nothing of it was left/);
    const done = words.workEndText('a', 'unpack', { outcome: 'done', folder: '/a', leftOut: ['x.bin'] });
    assert.match(done, /^Unpacked into \/a\. .* left out: x\.bin\.$/);
  });
});
