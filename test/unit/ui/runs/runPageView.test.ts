import assert from 'node:assert/strict';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { RunDetail, RunSummary } from '../../../../src/core/api/types.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/downloads.ts';
import { phaseOf } from '../../../../src/core/runs/run.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { charged, type ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import type { RunPageButton, RunPageFact } from '../../../../src/ui/runs/protocol.ts';
import type { RunPageView } from '../../../../src/ui/runs/runPageFacts.ts';
import { buttonText, changedLines, golden, pictured } from '../../../helpers/golden.ts';
import { row } from '../../../helpers/runs/support.ts';
import { sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf } from '../../../helpers/submissions.ts';

const words = await withVscode(() => import('../../../../src/ui/runs/runPageView.ts'));

const NOON_MS = new Date(2026, 0, 5, 12).getTime();
const MINUTE = 60_000;
const at = (minutes: number) => new Date(NOON_MS + minutes * MINUTE).toISOString();
const HOSTILE = 'x\u202e[y](command:z)\n';
const SHOWN = 'x<U+202E>[y] (command:z)';

const DETAIL: RunDetail = {
  run_id: 'r',
  status: 'completed',
  model_id: 'm',
  label: 'maths ft-7k3m9qpx',
  price_cents: 250,
  plan: 'Pro',
  created_at: at(0),
  started_at: at(1),
  completed_at: at(6),
};
const bare = (more: Partial<RunDetail> = {}): RunDetail => ({
  run_id: 'r',
  status: 'completed',
  model_id: 'm',
  ...more,
});

function receiptOf(
  changes: Partial<ChargedReceipt> = {},
  charge: Partial<ChargedReceipt['charge']> = {},
): ChargedReceipt {
  const run = { run_id: 'r', price_cents: 250, currency: 'USD', balance_after_cents: 750 };
  const submission = submissionOf({
    created: { localMs: NOON_MS },
    id: '11111111-1111-4111-8111-111111111111',
    balanceBefore: { balance_cents: 1_000, currency: 'USD' },
    consents: { model_terms: { accepted_at: at(0), urls: [] }, data_policy: { accepted_at: at(0) } },
    ...changes,
  });
  return charged(submission, { at: { localMs: NOON_MS }, run, foundBy: 'answered', ...charge });
}

/** Changes to a finished run; everything but the receipt is known. */
interface Given extends Partial<RunPageView> {
  run?: Partial<RunSummary> | null;
  session?: never;
  sessionState?: Session['state'];
  failure?: unknown;
  others?: RunDetail[];
  currency?: string;
  kind?: 'service' | 'sandbox';
  /** Whether the run's account is not on this machine. */
  isGone?: boolean;
}

describe('runPageState', () => {
  function viewOf(given: Given): RunPageView {
    const {
      run: changes,
      sessionState = 'ready',
      failure,
      others = [],
      currency,
      kind,
      isGone,
      ...view
    } = given;
    const run = changes === null ? undefined : { ...row('r', 0, 'complete'), created_at: at(0), ...changes };
    const detail = 'detail' in view ? view.detail : DETAIL;
    const account = { kind: kind ?? 'service', id: 'account-1', name: 'Work', baseUrl: 'https://x.test' };
    const details = new Map(others.map((one) => [one.run_id, one]));
    const session = sessionOf({
      account,
      state: sessionState,
      isLocked: sessionState.startsWith('key-'),
      offlineSince: sessionState === 'offline' ? NOON_MS : undefined,
      models: { nameOf: (id: string) => (id === 'm' ? 'Model M' : id) },
      balance: { current: currency === undefined ? undefined : { balance_cents: 1, currency } },
      runs: {
        rows: [...(run === undefined ? [] : [run]), ...others],
        get: () => run,
        detail: (id: string) => details.get(id),
        detailFailure: () => failure,
        label: () => detail?.label,
        readAtMs: NOON_MS,
        phase: (one: RunSummary) => phaseOf(one, detail),
      },
    });
    return {
      accountId: 'account-1',
      runId: 'r',
      session: isGone ? undefined : session,
      isActive: true,
      isReading: false,
      receipt: undefined,
      receiptLoading: 'loaded',
      downloads: [],
      records: [],
      link: 'vscode://x/run/r',
      nowMs: NOON_MS + 10 * MINUTE,
      ...view,
      detail,
    };
  }

  const stateOf = (given: Given = {}) => words.runPageState(viewOf(given));
  const pageOf = (given: Given) => ({ title: words.runPageTitle(viewOf(given)), state: stateOf(given) });

  /** What the page shows, a line for each of its elements. */
  const linesOf = (given: Given): string[] => {
    const { title, state } = pageOf(given);
    const { heading, notices, actions, sections } = state;
    const of = (text: string, buttons: readonly RunPageButton[]) =>
      [text, ...buttons.map(buttonText)].join(' ');
    const factLine = ({ name, value, buttons }: RunPageFact) => of(`${name}: ${value}`, buttons);
    return pictured('run', state, [
      `tab: ${title}`,
      `heading: ${[heading.title, heading.phase, heading.status, ...heading.lines].join(' | ')}`,
      ...notices.map(({ kind, text, buttons }) => of(`${kind}: ${text}`, buttons)),
      ...actions.map(buttonText),
      ...sections.flatMap((section) => {
        const lines =
          section.kind === 'timeline'
            ? section.entries.map(({ state, name, when, notes }) =>
                [`${state}, ${name}: ${when}`, ...notes].join(' | '),
              )
            : section.kind === 'facts'
              ? [...section.facts.map(factLine), section.note ?? []]
              : [
                  section.text,
                  ...section.facts.map(factLine),
                  ...section.downloads.map(({ name, text, fraction, isBusy, buttons }) =>
                    of(`${name}: ${text}, ${fraction ?? 'unknown'}${isBusy ? ', busy' : ''}`, buttons),
                  ),
                  ...section.files.map(({ name, lines, path, isGone, buttons }) =>
                    of([name, ...lines, path, ...(isGone ? ['gone'] : [])].join(' | '), buttons),
                  ),
                ];
        return [`# ${section.title}`, ...lines.flat().map((line) => `${section.title}: ${line}`)];
      }),
    ]);
  };
  /** Only what differs from another page. */
  const changes = (cases: Record<string, Given>, plain: Given = {}) =>
    Object.fromEntries(
      Object.entries(cases).map(([name, given]) => [name, changedLines(linesOf(given), linesOf(plain))]),
    );

  const queued: Given = { run: { status: 'queued' }, detail: bare({ status: 'queued' }) };
  const failed: Given = { run: { status: 'failed' }, detail: bare({ status: 'failed', started_at: at(1) }) };
  const available: Given = { run: { artifacts_available: true, artifacts_expires_at: at(70) } };
  const expired: Given = { run: { artifacts_available: true, artifacts_expires_at: at(9) } };

  it('stresses the download only if the service lists the adapter', () => {
    const isFirst = (given: Given) =>
      stateOf(given).actions.some((one) => one.action === 'download' && one.isFirst);
    assert.deepEqual([{}, available, expired].map(isFirst), [false, true, false]);
  });

  it('shows every event, “not yet” only if that is certain, and promises no adapter that the service doesn’t list', () => {
    const busy: Given = { run: { status: 'busy' }, receiptLoading: 'failed' };
    golden('run-page', {
      'a completed run': linesOf({}),
      ...changes({
        'its adapter is available': available,
        'its adapter expired': expired,
        'its adapter expired just now': { run: { artifacts_available: true, artifacts_expires_at: at(10) } },
        'a queued run while its receipt is read': { ...queued, receiptLoading: 'loading' },
        'an active run without a readable receipt': {
          ...busy,
          detail: bare({ status: 'busy', started_at: at(1) }),
        },
        'an active run that was charged': {
          run: { status: 'busy' },
          detail: bare({ status: 'busy', price_cents: 1 }),
        },
        'a queued run that was charged': {
          run: { status: 'queued' },
          detail: bare({ status: 'queued', price_cents: 1 }),
        },
        'a failed run': failed,
        'a failed run that was charged': { ...failed, receipt: receiptOf() },
        'a failed run while its details are read': { ...failed, detail: undefined },
        'a failed run of the sandbox that was charged': { ...failed, kind: 'sandbox', receipt: receiptOf() },
        'a status of spaces': { run: { status: ' ' }, detail: bare({ status: '' }) },
        'a status in other words': { detail: { ...DETAIL, status: 'done' } },
        'no times': { run: { created_at: '' }, detail: bare() },
        'times that run backwards': { detail: { ...DETAIL, started_at: at(-1), completed_at: at(-2) } },
        'no details yet': { detail: undefined },
        'no details, which failed': { detail: undefined, failure: new Error() },
        'a label without its marker': { detail: { ...DETAIL, label: 'plain' } },
        'a model without a name': { run: { model_id: 'base-7b' }, detail: bare() },
        'a run of the sandbox': { kind: 'sandbox' },
        offline: { sessionState: 'offline' },
        'not refreshed, of an account that is not active': { failure: new Error(), isActive: false },
      }),
    });
  });

  it('shows how long other runs took: the middle half of them, of the same model if there are enough', () => {
    const taking = (...minutes: number[]) =>
      minutes.map((end, n) => bare({ run_id: `o${n}`, started_at: at(0), completed_at: at(end) }));
    const own = bare({ started_at: at(0), completed_at: at(1) });
    const ofAnother = taking(50, 60, 70).map((one) => ({
      ...one,
      run_id: `x${one.run_id}`,
      model_id: 'x',
    }));
    const trained = (given: Given) => {
      const timeline = stateOf(given).sections.find((one) => one.kind === 'timeline');
      return timeline?.entries[2]?.notes.join(', ');
    };
    const took = (others: RunDetail[]) => [trained({ others }), trained({ ...queued, others })];
    golden('run-page-durations', {
      'eight runs and itself': took([...taking(12, 100, 9, 14, 20, 18, 11), own]),
      'two of the model, three of another': took([...taking(1, 2), ...ofAnother]),
      'three of the model, three of another': took([...taking(1, 2, 3), ...ofAnother]),
      'three that took the same': took(taking(5, 5, 5)),
      five: took(taking(12, 12, 15, 18, 18)),
      'from seconds to minutes': took(taking(1 / 3, 1 / 3, 1.5, 1.5)),
      'two, which are too few': took(taking(5, 5)),
    });
  });

  it('shows what was submitted, the charge, and what it proves', () => {
    const receipt = receiptOf();
    const { sizeBytes } = receipt.dataset;
    const started = { localMs: 1, serviceMs: NOON_MS };
    const attempts = [{ started }, { started }, { started }];
    const late = receiptOf({ attempts: [{ started }, { started }] });
    const twice = receiptOf({}, { furtherRuns: [{ run_id: 'twin', price_cents: 250 }] });
    const after = (cents: number, currency = 'USD') =>
      receiptOf({}, { run: { run_id: 'r', currency, balance_after_cents: cents } });
    const estimateOf = (lowCents: number) => ({
      before: { kind: 'range', lowCents, highCents: 410, currency: 'USD', runs: 5 } as const,
      accuracy: { correct: 4, of: 5 },
    });
    const same = { kind: 'same', priceCents: 250, currency: 'USD', atMs: 0 } as const;
    const consentsTo = (...urls: string[]) => {
      const accepted_at = at(0);
      return { consents: { model_terms: { accepted_at, urls }, data_policy: { accepted_at } } };
    };
    const plain = { receipt };
    const now = (added: number, changed: number, equal: number) => ({
      ...{ added, removed: 0, changed, equal, notCompared: 0 },
      rows: { total: added + changed, rows: [] },
    });
    const before = { difference: now(3, 0, 7), run: receiptOf({ label: HOSTILE, created: { localMs: 0 } }) };
    const written = { sizeBytes, changedAtMs: NOON_MS + 1 };
    const compared = (difference: ReturnType<typeof now>) => ({
      now: { file: { sizeBytes, mtimeMs: NOON_MS + 1, ctimeMs: 1 }, difference },
    });
    const rows = compared(now(41, 12, 1_940));
    golden('run-page-receipt', {
      ...changes({ 'a receipt': plain }),
      ...changes(
        {
          'the file is as it was': { receipt, dataset: { sizeBytes, changedAtMs: NOON_MS } },
          'the file was written since': { receipt, dataset: { sizeBytes, changedAtMs: NOON_MS + 1 } },
          'the file has another size': { receipt, dataset: { sizeBytes: 1, changedAtMs: 0 } },
          'the file is gone': { receipt, dataset: null },
          'the file was written since, and compared': { receipt, dataset: written, rows },
          'the file has another size, and the same rows': {
            ...{ receipt, dataset: { sizeBytes: 1, changedAtMs: 0 } },
            rows: compared(now(0, 0, 2_000)),
          },
          'the file is as it was again': { receipt, dataset: { sizeBytes, changedAtMs: NOON_MS }, rows },
          'the file is gone that was compared': { receipt, dataset: null, rows },
          'a run before, whatever became of the file': { receipt, rows: { before } },
          'a run before, without a label': {
            receipt,
            rows: { before: { ...before, run: receiptOf({ label: '' }) } },
          },
          'the rows are unknown': {
            receipt: {
              ...receipt,
              dataset: { ...receipt.dataset, rows: undefined },
            },
          },
          'one link was shown': { receipt: { ...receipt, ...consentsTo('https://a.test') } },
          'two links were shown': {
            receipt: { ...receipt, ...consentsTo('https://a.test', 'https://b.test') },
          },
          'an agent proposed it': { receipt: receiptOf({ proposedBy: 'agent' }) },
          'the response was lost': { receipt: receiptOf({ attempts }, { foundBy: 'found' }) },
          'the user recognized it': {
            receipt: { ...receipt, charge: receiptOf({}, { foundBy: 'recognised' }).charge },
          },
          'the answer came late': { receipt: late },
          'the answer came late, in the sandbox': { receipt: late, kind: 'sandbox' },
          'another run has the marker': { receipt: twice, several: twice },
          'it is the other run': { several: twice, receipt: undefined },
          'its currency is assumed': { receipt: receiptOf({}, { run: { run_id: 'r', price_cents: 250 } }) },
          'another change of the balance': { receipt: { ...receipt, charge: after(700).charge } },
          'the balance explained': { receipt: { ...receipt, charge: after(750).charge } },
          'a balance in another currency': { receipt: { ...receipt, charge: after(7, 'EUR').charge } },
          'no price, no plan': {
            receipt: { ...receipt, charge: receiptOf({}, { run: { run_id: 'r' } }).charge },
            detail: bare(),
          },
          'within the estimate': { receipt, estimate: estimateOf(240) },
          'outside the estimate': { receipt, estimate: estimateOf(280) },
          'the same dataset before': { receipt, estimate: { ...estimateOf(240), before: same } },
          'failed, outside the estimate': {
            ...{ ...failed, detail: bare({ status: 'failed', price_cents: 250 }) },
            ...{ receipt, estimate: estimateOf(280) },
          },
        },
        plain,
      ),
      ...changes({
        'no receipt, a currency assumed': { detail: { ...DETAIL, assumedCurrency: 'USD' }, currency: 'EUR' },
        'no receipt, no currency': { currency: 'EUR' },
        'the receipt is being read': { receiptLoading: 'loading' },
        'the receipt can’t be read': { receiptLoading: 'failed' },
      }),
    });
  });

  it('shows downloads, and what was downloaded', () => {
    const record = (more: Partial<DownloadRecord> & { isGone?: boolean } = {}) =>
      ({
        runId: 'r',
        artifactType: 'model',
        filename: 'a.zip',
        path: '/a.zip',
        sizeBytes: 3,
        sha256: 'ab',
        verified: 'zip',
        completedAtMs: NOON_MS,
        ...more,
      }) as DownloadRecord;
    const download = (
      state: ActiveDownload['state'],
      more: Partial<ActiveDownload> = {},
    ): ActiveDownload => ({
      id: 'd1',
      accountId: 'account-1',
      runId: 'r',
      artifactType: 'model',
      filename: 'a.zip',
      target: '/home/a.zip',
      receivedBytes: 400,
      totalBytes: 1_000,
      state,
      ...more,
    });
    const states = ['waiting', 'downloading', 'verifying', 'interrupted'] as const;
    const kinds = ['zip', 'gzip', 'tar', 'safetensors', 'unread', 'length', 'html', 'damaged'] as const;
    const of = (more: Given) => ({ ...available, ...more });
    golden(
      'run-page-files',
      changes(
        {
          ...Object.fromEntries(states.map((state) => [state, of({ downloads: [download(state)] })])),
          'of an unknown size': of({ downloads: [download('downloading', { totalBytes: undefined })] }),
          ...Object.fromEntries(kinds.map((verified) => [verified, of({ records: [record({ verified })] })])),
          'moved or deleted': of({ records: [record({ isGone: true })] }),
          'another file': of({ records: [record({ artifactType: 'merged' })] }),
          'another file without a name, gone': of({
            records: [{ ...record({ artifactType: 'merged', isGone: true }), filename: undefined }],
          }),
        },
        available,
      ),
    );
  });

  it('asks whether a completed run helped, and leads to the answers beside its dataset', () => {
    const adapter: DownloadRecord = {
      ...{ runId: 'r', artifactType: 'model', path: '/a.zip', sizeBytes: 3, sha256: 'ab' },
      ...{ verified: 'zip', completedAtMs: NOON_MS },
    };
    const answers = '/data/train.answers.jsonl';
    const shown = (given: Given) => linesOf(given).filter((line) => /Did it help|ompare/.test(line));
    golden('run-page-comparison', {
      completed: shown({}),
      'its adapter is here': shown({ records: [adapter] }),
      'its adapter is damaged': shown({ records: [{ ...adapter, verified: 'damaged' }] }),
      'its adapter is gone': shown({ records: [{ ...adapter, isGone: true }] }),
      'a file of answers': shown({ answers }),
      'a compared file of answers': shown({
        answers,
        verdict: 'train.answers.jsonl: Adapter closer in 9 rows.',
      }),
      'a file of answers and the adapter': shown({ answers, records: [adapter] }),
      'of an account that is not active': shown({ isActive: false, answers }),
      'of an account that is not active, its adapter is here': shown({ isActive: false, records: [adapter] }),
      'in the sandbox': shown({ kind: 'sandbox' }),
      'its adapter expired': shown(expired),
      'its adapter expired, and is here': shown({ ...expired, records: [adapter] }),
      'its adapter expired after a file of answers': shown({ ...expired, answers }),
      'a run that is active': shown({ run: { status: 'busy' }, detail: bare({ status: 'busy' }), answers }),
      'a failed run with a file': shown({ ...failed, answers, records: [adapter] }),
    });
  });

  it('explains why there is nothing to show, and hides data read with a rejected API key', () => {
    const notFound = new ServiceError('not_found', 404, '');
    const unknown = (code: string): Given => ({ run: null, failure: new ServiceError(code, 500, HOSTILE) });
    const cases: Record<string, Given> = {
      'an account that is not here': { isGone: true },
      'a rejected API key': { sessionState: 'key-rejected' },
      'a missing API key': { sessionState: 'key-missing' },
      'not found': { run: null, failure: notFound },
      'not found in the sandbox': { run: null, failure: notFound, kind: 'sandbox' },
      'while it is read': { run: null, isReading: true },
      'not listed': { run: null },
      ...Object.fromEntries(
        ['x', 'constructor', '__proto__', 'too-late'].map((code) => [`error ${code}`, unknown(code)]),
      ),
    };
    const pages: Record<string, string[]> = {};
    for (const [name, given] of Object.entries(cases)) {
      const lines = (pages[name] = linesOf({ receipt: receiptOf(), ...given }));
      assert.doesNotMatch(lines.join(), /maths|train|2\.50|resend|\u202e|\]\(/);
    }
    golden('run-page-absent', pages);
  });

  it('sanitizes text from other clients and from the service', () => {
    const label = `${HOSTILE}${'y'.repeat(5_000)}`;
    const detail = { ...DETAIL, label, plan: HOSTILE, status: HOSTILE };
    const dataset = { ...submissionOf().dataset, filename: HOSTILE };
    const texts = JSON.stringify(
      pageOf({ detail, run: { status: HOSTILE, model_id: HOSTILE }, receipt: receiptOf({ dataset }) }),
    );
    assert.doesNotMatch(texts, /\\n|\u202e|y{255}|\]\(/);
    assert.ok(texts.includes(SHOWN));
  });

  it('has no button that copies a path with hidden characters', () => {
    const copiesOf = (path: string) => {
      const receipt = receiptOf({ dataset: { ...submissionOf().dataset, path } });
      const record = { ...{ runId: 'r', artifactType: 'model', path, sizeBytes: 3, sha256: 'ab' } };
      const records = [{ ...record, verified: 'zip', completedAtMs: NOON_MS } as const];
      return JSON.stringify(pageOf({ receipt, records })).match(/Copy Path/gi)?.length;
    };
    assert.deepEqual(['/data/a', '/data/\u0003\n', '/data/\u202e'].map(copiesOf), [3, undefined, undefined]);
  });
});
