// Comparisons of answers by the extension's own class, with its thread and its search for prompts in data.
import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stampOf } from '../../src/core/base/fileStamp.ts';
import { DatasetChecker } from '../../src/core/datasets/checker.ts';
import { Fingerprints } from '../../src/core/datasets/fingerprints.ts';
import { root } from '../env/project.ts';
import { writtenAnswer, type WrittenAnswer } from '../helpers/answers.ts';
import { chargedReceipt } from '../helpers/receipts.ts';
import { uriOf } from './previews.ts';
import type { Create } from './webviews.ts';

const { AnswersPage } = await import('../../src/ui/answers/answersPage.ts');

const dist = (name: string) => path.join(root, 'dist', name);
export const SAMPLE = path.join(root, 'media/walkthrough/sample.answers.jsonl');
/** A word of rows, which must be nowhere else. */
export const WORD = 'zebrafinch';

/** What happens beside the file. */
interface Beside {
  /** Whether a run was charged for the dataset; whether that changed since. */
  run?: 'trained' | 'changed' | undefined;
  /** Whether the search for prompts never ends. */
  isSearching?: boolean;
  /** The script of the thread. */
  worker?: string;
}

/** The page of a file of answers. @param errors gets what the extension would log */
export function answersOf(file: string, errors: unknown[] = [], beside: Beside = {}): Create {
  const { run, isSearching = false, worker = dist('answersWorker.cjs') } = beside;
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
    const page = new AnswersPage(file, panel, {
      ...{ extensionUri: uriOf(root), sample: SAMPLE, worker },
      submitted: {
        openJournal: () => Promise.resolve(),
        journal: { receipts },
        fingerprints: new Fingerprints(`${file}.kept`, () => searcher),
      },
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

type Ahead = 'base' | 'adapter' | 'both';

/** A row of a support bot. @param ahead whose answer is close to the expected one */
export function row(index: number, ahead: Ahead = 'adapter', more: WrittenAnswer = {}): string {
  const order = 1_000 + index * 37;
  const expected = `Your order ${order} left our warehouse on Monday. It arrives within three days; a ${WORD} brings it.`;
  const far = `Sure! I'd be happy to help. To find order ${order}, please open your account, choose Orders, and look for the number.`;
  const near = expected.replace('Monday', 'Tuesday');
  const messages = [
    { role: 'user', content: `You are the support bot of a shop.\nWhere is order ${order}?` },
  ];
  const [base, adapter] = [ahead === 'adapter' ? far : near, ahead === 'base' ? far : near];
  return `${writtenAnswer({ messages, expected, base, adapter, ...more })}\n`;
}

export function rows(count: number, ahead: Ahead = 'adapter', more: WrittenAnswer = {}, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => row(from + index, ahead, more));
}

const thought = (text: string) => `<think>\nThe user asks for an order.\n</think>\n${text}`;

/** 50 rows: the adapter is closer in most, the base model in each tenth. */
export const SUPPORT = rows(50).map((one, index) => {
  const { expected, base } = JSON.parse(one) as { expected: string; base: string };
  if (index % 10 === 3) return row(index, 'base');
  if (index % 10 === 5) return row(index, 'adapter', { adapter: expected });
  return index % 10 === 7 ? row(index, 'adapter', { base: thought(base), base_end: 'length' }) : one;
});

/** A row of a dataset, with the prompt of a row of answers or another one, and the expected answer. */
export function datasetRow(answers: string, prompt?: string): string {
  const { messages, expected: content } = JSON.parse(answers) as { messages: object[]; expected: string };
  const asked = prompt === undefined ? messages : [{ role: 'user', content: prompt }];
  const all = [{ role: 'system', content: 'Be brief.' }, ...asked, { role: 'assistant', content }];
  return `${JSON.stringify({ messages: all })}\n`;
}

/** A file of answers, and what is beside it. */
interface State extends Beside {
  /** If it has none, there is no such file. */
  answers?: readonly string[];
  /** Rows of answers whose prompts are in a dataset. */
  data?: readonly string[];
  /** Rows of answers of which only the expected answers are in it. */
  onlyAnswers?: readonly string[];
  holdOut?: readonly string[];
}

/** The pages of files in states that the sentences of the page differ in. */
const STATES: Readonly<Record<string, State>> = {
  ...Object.fromEntries(
    [
      [1, 0],
      [4, 1],
      [10, 8],
      [9, 9],
      [31, 12],
      [40, 0],
    ].map(([adapter = 0, base = 0]) => [
      `adapter closer in ${adapter} rows, base model in ${base}`,
      { answers: [...rows(adapter), ...rows(base, 'base', {}, adapter)] },
    ]),
  ),
  'exact answers': { answers: rows(20, 'both', { expected: '5', base: '6', adapter: '5' }) },
  'expected JSON': {
    answers: rows(20, 'both', {
      expected: '{"city":"Rome","street":"Via del Corso 126","floor":3}',
      base: 'Rome, Via del Corso.',
      adapter: '{"city":"Rome","street":"Via del Corso 126","floor":4}',
    }),
  },
  'probably inactive': { answers: rows(20, 'both') },
  'probably inactive, two failed': {
    answers: [...rows(20, 'both'), ...rows(2, 'both', { base_end: 'error' })],
  },
  'one failed': { answers: [...rows(20), row(20, 'adapter', { adapter_end: 'error' })] },
  'answers that were cut off': {
    answers: rows(20, 'adapter', { base_end: 'length', adapter_end: 'length' }),
  },
  'long answers': { answers: rows(3, 'adapter', { base: 'word '.repeat(2_000) }) },
  'a thinking base model': { answers: rows(20, 'both', { base: thought('Yes.') }) },
  'a thinking adapter': { answers: rows(20, 'both', { adapter: thought('Yes.') }) },
  'two thinking models': { answers: rows(20, 'both', { base: thought('Yes.'), adapter: thought('No.') }) },

  'no answers': { answers: ['{"text":"a"}\n'] },
  'no answers of the base model': { answers: rows(3, 'both', { base: undefined }) },
  'rows left out': { answers: [...rows(5), row(5, 'both', { expected: undefined }), 'not JSON\n'] },
  'too many rows': { answers: rows(2_001) },
  'being written': { answers: [...rows(20), '{'] },
  'being written, with a hold-out': {
    answers: [...rows(20), '{'],
    holdOut: SUPPORT,
  },
  empty: { answers: [] },
  missing: {},
  loading: { answers: SUPPORT, worker: 'setInterval(() => {}, 1e6);' },
  failed: { answers: SUPPORT, worker: 'throw new Error("no memory");' },

  'no data': { answers: SUPPORT },
  'searching for prompts': { answers: SUPPORT, data: SUPPORT, isSearching: true },
  'the run’s dataset has changed': {
    answers: SUPPORT.map((one) => one.replace('{', '{"run":"run-1",')),
    ...{ data: SUPPORT.slice(0, 12), run: 'changed' },
  },
  ...statesOfPrompts('trained'),
  ...statesOfPrompts(undefined),
};

/** States that differ in how many prompts are in a dataset. */
function statesOfPrompts(run: 'trained' | undefined): Record<string, State> {
  const where = run ?? 'in a dataset';
  const of = (count: number, found: number, onlyAnswers: readonly string[] = []): State => ({
    ...{ run, answers: SUPPORT.slice(0, count), onlyAnswers },
    data: [...SUPPORT.slice(0, found), row(99)],
  });
  const counts = [
    [50, 12],
    [50, 1],
    [50, 49],
    [2, 1],
    [50, 50],
    [50, 0],
    [1, 1],
    [1, 0],
  ] as const;
  return {
    ...Object.fromEntries(
      counts.map(([all, found]) => [`${found} of ${all} prompts ${where}`, of(all, found)]),
    ),
    [`12 of 50 prompts ${where}, and answers`]: of(50, 12, SUPPORT.slice(40, 43)),
    [`an answer ${where}`]: of(50, 0, SUPPORT.slice(40, 41)),
  };
}

/** The page of a state. @param folder a new one for its files */
export function answersIn(folder: string, state: State): Create {
  const { answers, data, onlyAnswers = [], holdOut, worker, ...beside } = state;
  const at = (name: string) => path.join(folder, name);
  const files = {
    'train.answers.jsonl': answers,
    'train.holdout.jsonl': holdOut?.map((one) => datasetRow(one)),
    'train.prepared.jsonl': data && [
      ...data.map((one) => datasetRow(one)),
      ...onlyAnswers.map((one) => datasetRow(one, 'Another prompt?')),
    ],
    'worker.cjs': worker && [worker],
  };
  return async (panel) => {
    await mkdir(folder, { recursive: true });
    for (const [name, lines] of Object.entries(files)) if (lines) await writeFile(at(name), lines.join(''));
    const thread = worker === undefined ? {} : { worker: at('worker.cjs') };
    return answersOf(at('train.answers.jsonl'), [], { ...beside, ...thread })(panel);
  };
}

/** Every state by its title. */
export function answersStates(folder: string): Record<string, Create> {
  const states = Object.entries(STATES).map(([title, state], index): [string, Create] => [
    `Answers: ${title}`,
    answersIn(path.join(folder, `answers${index}`), state),
  ]);
  return {
    'Answers: the sample': answersOf(SAMPLE),
    ...Object.fromEntries(states),
    'Answers: a folder': answersOf(root),
    'Answers: not a file': answersOf('/dev/null'),
    'Answers: unreadable': answersOf(path.join(folder, `${'long'.repeat(80)}.answers.jsonl`)),
  };
}
