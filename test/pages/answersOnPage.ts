// Comparisons of answers by the extension's own class, with its thread and its search for prompts in data.
import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stampOf } from '../../src/core/base/fileStamp.ts';
import { DatasetChecker } from '../../src/core/datasets/checker.ts';
import { Fingerprints } from '../../src/core/datasets/fingerprints.ts';
import { root } from '../env/project.ts';
import {
  datasetRow,
  supportRow,
  supportRows,
  writtenAnswer,
  type WrittenAnswer,
} from '../helpers/answers.ts';
import { chargedReceipt } from '../helpers/receipts.ts';
import { uriOf } from './previews.ts';
import type { Create } from './webviews.ts';

const { AnswersPage } = await import('../../src/ui/answers/answersPage.ts');

const dist = (name: string) => path.join(root, 'dist', name);
export const SAMPLE = path.join(root, 'media/walkthrough/sample.answers.jsonl');

/** A file of answers, and the files beside it. */
interface Answers {
  /** Its lines; by default, there is no such file. */
  answers?: readonly string[];
  /** Lines of a second file of answers. */
  other?: readonly string[];
  /** Lines of a dataset and a hold-out. */
  prepared?: readonly string[];
  holdout?: readonly string[];
  /** Whether a run was charged for the dataset; whether that has changed since. */
  run?: 'trained' | 'changed' | undefined;
  /** Whether the search for prompts never ends. */
  isSearching?: boolean;
}

/** The page of a file. @param errors gets what the extension would log */
export function answersOf(file: string, errors: unknown[] = [], more: Answers = {}): Create {
  const { other, run, isSearching = false } = more;
  const receipts = async () => {
    if (run === undefined) return [];
    const dataset = path.join(path.dirname(file), 'train.prepared.jsonl');
    const stamp = stampOf(await stat(dataset, { bigint: true }));
    const charged = { path: dataset, ...stamp, ...(run === 'changed' && { sizeBytes: 1 }) };
    return [chargedReceipt({ label: 'Bot', dataset: charged, run: { run_id: 'run-1' } })];
  };
  return (panel) => {
    const checker = new DatasetChecker({ worker: dist('datasetWorker.cjs'), scanner: dist('scanner.wasm') });
    const searcher = isSearching ? new Promise<never>(() => undefined) : Promise.resolve(checker);
    const fingerprints = new Fingerprints(`${file}.kept`, () => searcher);
    const second = other && path.join(path.dirname(file), 'new.other.jsonl');
    const page = new AnswersPage({ file, other: second }, panel, {
      ...{ extensionUri: uriOf(root), sample: SAMPLE },
      submitted: { openJournal: () => Promise.resolve(), journal: { receipts }, fingerprints },
      log: { error: (_, error) => void errors.push(error) },
    });
    return {
      dispose: () => {
        page.dispose();
        void checker.dispose();
      },
    };
  };
}

/** The page of answers that are written first. @param folder a new one for the files */
export function answersIn(folder: string, answers: Answers, errors: unknown[] = []): Create {
  return async (panel) => {
    const file = (name: string) => path.join(folder, name);
    await mkdir(folder, { recursive: true });
    for (const name of ['answers', 'prepared', 'holdout'] as const)
      if (answers[name]) await writeFile(file(`train.${name}.jsonl`), answers[name].join(''));
    if (answers.other) await writeFile(file('new.other.jsonl'), answers.other.join(''));
    return answersOf(file('train.answers.jsonl'), errors, answers)(panel);
  };
}

/** 50 rows: the adapter is closer in most, the base model in each tenth. */
export const SUPPORT = supportRows(50).map((row, index) => {
  if (index % 10 === 3) return supportRow(index, 'base');
  if (index % 10 === 5) return row.replace('Tuesday', 'Monday');
  const thought = '<think>\\nThe user asks for an order.\\n</think>\\n';
  return index % 10 === 7 ? row.replace('"base":"', `"base_end":"length","base":"${thought}`) : row;
});
const ahead = (adapter: number, base: number) => ({
  answers: supportRows(adapter + base).map((row, index) =>
    index < adapter ? row : supportRow(index, 'base'),
  ),
});
const with50 = (more: WrittenAnswer, side: 'adapter' | 'both' = 'both') => ({
  answers: supportRows(50, side, more),
});
/** Rows whose expected answers are labels. */
const LABELS = Array.from({ length: 40 }, (_, index) => {
  const expected = ['positive', 'negative', 'neither one nor the other'][(index % 7) % 3] ?? '';
  const messages = [{ role: 'user', content: `How is review ${index}?` }];
  const [base, adapter] = [index % 5 === 0 ? expected : 'Good!', index % 4 === 0 ? 'positive' : expected];
  return `${writtenAnswer({ messages, expected, base, adapter })}\n`;
});
/** Answers of another adapter, to other rows as well; the base model answers otherwise. */
const OTHERS = supportRows(50)
  .slice(2)
  .map((row, index) => (index % 6 === 0 ? supportRow(index + 2, 'base') : row));
const THOUGHT = '<think>Hm.</think>Yes.';
const DATASET = SUPPORT.map((row) => datasetRow(row));

/** Answers in which the sentences of the page differ. */
export const STATES: Readonly<Record<string, Answers>> = {
  'one row': ahead(1, 0),
  'too few rows': ahead(4, 1),
  'a difference by chance': ahead(10, 8),
  'a difference': ahead(31, 12),
  'short expected answers': with50({ expected: '5', base: '6', adapter: '5' }),
  'expected JSON': with50({
    expected: '{"city":"Rome","street":"Via del Corso 126","floor":3}',
    base: 'Rome, Via del Corso.',
    adapter: '{"city":"Rome","street":"Via del Corso 126","floor":4}',
  }),
  'expected labels': { answers: LABELS },
  'two files': { answers: SUPPORT.slice(0, 48), other: OTHERS },
  'two files, expected labels': {
    answers: LABELS,
    other: LABELS.map((row) =>
      row.replace('"expected"', '"x":0,"expected"').replace(/"adapter":"\w+"/, '"adapter":"negative"'),
    ),
  },
  'two files of the same answers': { answers: SUPPORT, other: SUPPORT },
  'two files of other rows': { answers: SUPPORT, other: supportRows(60).slice(50) },
  'two files, one without answers': { answers: SUPPORT, other: ['{"text":"a"}\n'] },
  'two files, one missing': { other: SUPPORT },
  'probably inactive': with50({}),
  'probably inactive, two failed': {
    answers: [...supportRows(20, 'both'), ...supportRows(2, 'both', { base_end: 'error' })],
  },
  'one failed': { answers: [...supportRows(20), supportRow(20, 'adapter', { adapter_end: 'error' })] },
  'answers that were cut off': with50({ base_end: 'length', adapter_end: 'length' }, 'adapter'),
  'long answers': with50({ base: 'word '.repeat(2_000) }),
  'a thinking base model': with50({ base: THOUGHT }),
  'a thinking adapter': with50({ adapter: THOUGHT }),
  'two thinking models': with50({ base: THOUGHT, adapter: `${THOUGHT}!` }),

  'no answers': { answers: ['{"text":"a"}\n'] },
  'no answers of the base model': with50({ base: undefined }),
  'rows left out': {
    answers: [...SUPPORT, supportRow(50, 'both', { expected: undefined }), 'not JSON\n'],
  },
  'too many rows': { answers: supportRows(2_001) },
  'being written': { answers: [...supportRows(20), '{'] },
  'being written, with a hold-out': { answers: [...supportRows(20), '{'], holdout: DATASET },
  empty: { answers: [] },
  missing: {},

  'no data': { answers: SUPPORT },
  'data that is searched': { answers: SUPPORT, prepared: DATASET, isSearching: true },
  'data that has changed': { ...with50({ run: 'run-1' }), prepared: DATASET.slice(0, 12), run: 'changed' },
  ...statesOfPrompts('trained'),
  ...statesOfPrompts(undefined),
};

/** States that differ in how many prompts are in a dataset. */
function statesOfPrompts(run: 'trained' | undefined): Record<string, Answers> {
  const where = run ?? 'in a dataset';
  const found = { 50: [12, 1, 49, 50, 0], 2: [1], 1: [1, 0] };
  const states = Object.entries(found).flatMap(([all, counts]) =>
    counts.map((count): [string, Answers] => [
      `${count} of ${all} prompts ${where}`,
      {
        run,
        answers: SUPPORT.slice(0, Number(all)),
        prepared: [...DATASET.slice(0, count), datasetRow(supportRow(99))],
      },
    ]),
  );
  const sameAnswer = SUPPORT.slice(40, 43).map((row) => datasetRow(row, 'Another prompt?'));
  return {
    ...Object.fromEntries(states),
    [`12 of 50 prompts ${where}, and answers`]: {
      run,
      answers: SUPPORT,
      prepared: [...DATASET.slice(0, 12), ...sameAnswer],
    },
    [`an answer ${where}`]: { run, answers: SUPPORT, prepared: sameAnswer.slice(0, 1) },
  };
}

/** The page of each state by its title. */
export function answersStates(folder: string): Record<string, Create> {
  const states = Object.entries(STATES).map(
    ([title, state]) => [title, answersIn(path.join(folder, title), state)] as const,
  );
  const all: Record<string, Create> = {
    ...Object.fromEntries(states),
    'the sample': answersOf(SAMPLE),
    'a folder': answersOf(root),
    'not a file': answersOf('/dev/null'),
    unreadable: answersOf(path.join(folder, `${'long'.repeat(80)}.answers.jsonl`)),
  };
  return Object.fromEntries(Object.entries(all).map(([title, create]) => [`Answers: ${title}`, create]));
}
