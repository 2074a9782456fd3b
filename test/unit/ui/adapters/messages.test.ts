import assert from 'node:assert/strict';
import { gridOf } from '../../../../src/core/adapters/adapterGrid.ts';
import type { Recipe } from '../../../../src/core/adapters/recipes.ts';
import type { AdapterConfig } from '../../../../src/core/adapters/peftConfig.ts';
import type { AdapterProblem, ProblemCode } from '../../../../src/core/adapters/problems.ts';
import type {
  AdapterReport,
  LoraPair,
  Measurements,
  PairMeasure,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';
import { BrokenArchiveError, NotAnAdapterError } from '../../../../src/core/adapters/faults.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const reports = await withVscode(() => import('../../../../src/ui/adapters/reportMessages.ts'));
const recipes = await withVscode(() => import('../../../../src/ui/adapters/recipeMessages.ts'));
const pictures = await withVscode(() => import('../../../../src/ui/adapters/pictureMessages.ts'));
const words = await withVscode(() => import('../../../../src/ui/adapters/messages.ts'));

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
  broken: [],
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
  hasEmbedding: false,
};

describe('messages of the adapter page', () => {
  const problem = (code: ProblemCode, more: Partial<AdapterProblem> = {}): AdapterProblem => ({
    code,
    severity: 'warning',
    count: 1,
    examples: ['x'],
    ...more,
  });
  const verdict = (more: Partial<AdapterReport>, measured?: Partial<Measurements>) =>
    reports.adapterVerdict({ ...report, ...more }, measured && { ...measurements, ...measured });

  it('say what is wrong with an archive, and with which entry', () => {
    const { sentences } = verdict({ verdict: { code: 'unsafe', fault: 'path', entry: '../evil' } });
    assert.ok(sentences.includes(reports.faultText('path')));
    assert.ok(sentences.some((text) => text.endsWith('../evil')));
  });

  it('say how many more examples of a problem there are', () => {
    const more = (count: number, examples: string[]) =>
      reports.problemNote(problem('partner-missing', { count, examples })).more;
    assert.match(more(1_300, ['a', 'b']) ?? '', /1,298/);
    assert.equal(more(2, ['a', 'b']) ?? more(2, []), undefined);
  });

  it('never call an adapter complete that has errors, broken values or no effect', () => {
    const error = problem('config-incomplete', { severity: 'error' });
    for (const [problems, measured, kind] of [
      [[], undefined, 'clean'],
      [[problem('base-changed')], undefined, 'warning'],
      [[error], undefined, 'error'],
      [[], { hasNoEffect: true }, 'warning'],
      [[], { hasNoEffect: true, broken: ['x'] }, 'error'],
      [[error], { hasNoEffect: true }, 'error'],
    ] as const)
      assert.equal(verdict({ problems }, measured).kind, kind);
  });

  const toolOf = (changes: Partial<Recipe>, baseModel?: string) =>
    recipes.adapterTool(
      { tool: 'vllm', refusal: undefined, blocks: [], warnings: [], notes: [], ...changes },
      baseModel,
    );

  it('say only why where a tool refuses, and whether merging helps', () => {
    const run = { purpose: 'run', language: 'sh', text: 'd', placeholders: [] } as const;
    const shown = (canMerge: boolean) => {
      const { warnings, blocks, notes } = toolOf({
        refusal: { key: 'use_dora', canMerge },
        blocks: [run],
        warnings: ['needs-wsl'],
        notes: ['model-name'],
      });
      assert.deepEqual([warnings.length, blocks, notes], [1, [], []]);
      return warnings[0]?.text ?? '';
    };
    assert.match(shown(true), /use_dora.*PEFT/);
    assert.match(shown(false), /use_dora\)\.$/);
  });

  it('name the base of the config that is no repository, what to replace, and alternatives', () => {
    const base = (name?: string) => toolOf({ notes: ['base-unknown'] }, name).notes[0]?.text ?? '';
    assert.match(base('Qwen3 8B'), /“Qwen3 8B”.*BASE_MODEL/);
    assert.ok(base() === base('') && !base().includes('“'));
    const create = { purpose: 'create', text: 'a', placeholders: ['BASE', 'NAME'] } as const;
    const run = { purpose: 'run', language: 'sh', text: 'd', placeholders: [] } as const;
    const [first, second, last] = toolOf({
      blocks: [{ ...create, language: 'powershell' }, { ...create, language: 'cmd' }, run],
    }).blocks;
    assert.match(first?.title ?? '', /\(PowerShell\)$/);
    assert.match(second?.title ?? '', /\(cmd\)$/);
    assert.ok(first?.hint?.includes('BASE, NAME') && last?.hint === undefined && !last?.title.includes('('));
  });

  it('show facts', () => {
    const config = {
      peftType: 'LORA',
      baseModel: 'org/base',
      rank: 16,
      alpha: 32,
      useRslora: true,
      useDora: true,
      isAlora: true,
      targetModules: ['q_proj'],
    } as unknown as AdapterConfig;
    const { sections } = reports.adapterOverview(
      { ...report, config, weights: { ...weights, savedModules: ['lm_head'] } },
      undefined,
    );
    const facts = new Map(
      sections.flatMap((section) => section.facts ?? []).map(({ name, value }) => [name, value]),
    );
    for (const [name, value] of [
      ['Type', 'LoRA, rsLoRA, DoRA, aLoRA'],
      ['Rank', '8'],
      ['Scaling', '2'],
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

  it('paint each cell by what is known of it, and explain only what is painted', () => {
    const picture = (changes: Partial<LoraPair>, measure?: Partial<PairMeasure>) => {
      const pairs = [{ path: pair.path, isZero: false, isBroken: false, ...measure }];
      const measured = measure && { ...measurements, pairs, broken: pairs[0]!.isBroken ? ['x'] : [] };
      const grid = gridOf({ ...weights, pairs: [{ ...pair, ...changes }] }, measured);
      return pictures.adapterPicture(grid, measured, true);
    };
    for (const [changes, measure, shade, legend] of [
      [{}, undefined, 'adapted', ['adapted']],
      [{ isHalf: true }, undefined, 'half', ['half']],
      [{}, { norm: 3 }, 1, [0.1, 1]],
      [{}, { norm: 0, isZero: true }, 'zero', ['zero']],
      [{}, { isBroken: true }, 'bad', ['bad']],
      [{}, {}, 'unknown', ['unknown']],
    ] as const) {
      const { rows, legend: shown, findings } = picture(changes, measure);
      assert.deepEqual([rows[0]?.cells[0]?.shade, shown.map((one) => one.shade)], [shade, legend]);
      assert.equal(
        findings.some(({ severity }) => severity === 'error'),
        shade === 'bad',
      );
    }
    const text = picture({}, { norm: 3 }).rows[0]?.cells[0]?.text;
    assert.equal(text, 'q_proj, layer 0: rank 8, 1,234 parameters, norm 3');
  });

  it('say how work ended, and what is wrong with the disk or the archive', () => {
    const textOf = (error: unknown) => words.workResult('a.zip', 'unpack', { outcome: 'failed', error }).text;
    assert.ok(textOf(new BrokenArchiveError('checksum')).includes(reports.faultText('checksum')));
    const broken = new NotAnAdapterError({ code: 'broken', fault: 'tar' });
    assert.ok(textOf(broken).includes(reports.faultText('tar')));
    assert.match(textOf(new NotAnAdapterError({ code: 'no-adapter' })), /no longer contains an adapter/);
    assert.match(textOf(new DiskError({ name: '', message: '', code: 'ENOSPC' })), /full/);
    const done = words.workResult('a', 'unpack', { outcome: 'done', folder: '/a', leftOut: ['x.bin'] });
    assert.match(done.text, /\/a.*x\.bin/);
  });
});
