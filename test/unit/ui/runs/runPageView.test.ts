import assert from 'node:assert/strict';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { RunDetail, RunSummary } from '../../../../src/core/api/types.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/types.ts';
import { phaseOf } from '../../../../src/core/runs/phase.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/intent.ts';
import type { RunPageView } from '../../../../src/ui/runs/runPageFacts.ts';
import type { RunPageSection } from '../../../../src/ui/runs/protocol.ts';
import { row } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';

const words = await withVscode(() => import('../../../../src/ui/runs/runPageView.ts'));

const NOON_MS = Date.UTC(2026, 0, 5, 12);
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
  settled: Partial<ChargedReceipt['settled']> = {},
): ChargedReceipt {
  const run = { run_id: 'r', price_cents: 250, currency: 'USD', balance_after_cents: 750 };
  return {
    ...intentOf({ balanceBefore: { balance_cents: 1_000, currency: 'USD' } }),
    settled: { kind: 'charged', at: { localMs: 1 }, run, how: 'answered', ...settled },
    ...changes,
  };
}

/** Changes to a finished run of which everything but the receipt is known. */
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
    const run = changes === null ? undefined : { ...row('r', 0, 'complete'), ...changes };
    const detail = 'detail' in view ? view.detail : DETAIL;
    const account = { kind: kind ?? 'service', id: 'account-1', name: 'Work', baseUrl: 'https://x.test' };
    const details = new Map(others.map((one) => [one.run_id, one]));
    const session = {
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
        isCompleteSince: () => true,
        phase: (one: RunSummary) => phaseOf(one, detail),
      },
    } as unknown as Session;
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
  function section<K extends RunPageSection['kind']>(kind: K, given: Given, key: string = kind) {
    const found = stateOf(given).sections.find((one) => one.key === key);
    assert.ok(found !== undefined, `no section ${key}`);
    return found as RunPageSection & { kind: K };
  }
  const fact = (given: Given, of: string, key: string) =>
    section('facts', given, of).facts.find((one) => one.key === key)?.value;
  /** Returns the enabled buttons, and asserts that every button is in its place. */
  const actions = (given: Given) => {
    const all = stateOf(given).actions;
    const places = ['inspect', 'download', 'submitAgain', 'copy', 'refresh'];
    assert.deepEqual(
      all.map(({ action }) => action),
      places,
    );
    return all.flatMap(({ words, isDisabled }) => (isDisabled === true ? [] : [words]));
  };
  const ANY = ['Submit Again…', 'Copy Run ID', 'Refresh'];

  describe('timeline', () => {
    const lines = (given: Given = {}) =>
      section('timeline', given).entries.map(({ state, when, notes }) =>
        [state, /202\d/.test(when) ? 'time' : when, ...notes].join(', '),
      );
    const available = { artifacts_available: true, artifacts_expires_at: at(70) };

    it('has every event, with “not yet” only if that is certain', () => {
      for (const [given, expected] of [
        [
          { run: available },
          [
            'done, time',
            'done, time, after 1 min in the queue',
            'done, time, after 5 min of training',
            'next, time, 1 h left',
          ],
        ],
        [
          { run: { status: 'queued' }, detail: bare({ status: 'queued' }), receiptLoading: 'loading' },
          [
            'unknown, loading…',
            'now, time, 10 min so far',
            'next, not yet',
            'next, not yet',
            'next, not yet',
          ],
        ],
        [
          {
            run: { status: 'busy' },
            detail: bare({ status: 'busy', started_at: at(1) }),
            receiptLoading: 'failed',
          },
          [
            'unknown, could not be loaded',
            'done, time',
            'done, time, after 1 min in the queue, 9 min ago',
            'unknown, not provided yet',
            'unknown, not provided yet',
          ],
        ],
        [
          { run: { status: 'failed' }, detail: bare({ status: 'failed', started_at: at(1) }) },
          [
            // The service will provide no more for a failed run.
            'done, time',
            'done, time, after 1 min in the queue',
          ],
        ],
        [{ run: { created_at: '' }, detail: bare() }, Array<string>(4).fill('unknown, not provided')],
        [
          { detail: undefined },
          ['done, time', 'unknown, loading…', 'unknown, loading…', 'unknown, not provided'],
        ],
      ] as [Given, string[]][])
        assert.deepEqual(lines(given), expected);
      assert.equal(lines({ run: { ...available, artifacts_expires_at: at(9) } })[3], 'over, time');
      assert.equal(lines({ detail: undefined, failure: new Error() })[2], 'unknown, could not be loaded');
    });

    it('shows how long other runs took', () => {
      const taking = (...minutes: number[]) =>
        minutes.map((end, n) => bare({ run_id: `o${n}`, started_at: at(0), completed_at: at(end) }));
      const own = bare({ started_at: at(0), completed_at: at(1) });
      const ofAnother = taking(50, 60, 70).map((one) => ({
        ...one,
        run_id: `x${one.run_id}`,
        model_id: 'x',
      }));
      for (const [others, text] of [
        // The middle half of the other runs, of the same model if there are enough.
        [[...taking(12, 100, 9, 14, 20, 18, 11), own], 'usually 12–20 min'],
        [[...taking(1, 2), ...ofAnother], 'usually 2 min to 1 h'],
        [[...taking(1, 2, 3), ...ofAnother], 'usually 2–3 min'],
        [taking(5, 5, 5), 'usually 5 min'],
        [taking(12, 12, 15, 18, 18), 'usually 12–18 min'],
        [taking(1 / 3, 1 / 3, 1.5, 1.5), 'usually 20 s to 2 min'],
      ] satisfies [RunDetail[], string][]) {
        assert.equal(lines({ others })[2], `done, time, after 5 min of training (${text})`);
        const waiting = { run: { status: 'queued' }, detail: bare({ status: 'queued' }), others };
        assert.equal(lines(waiting)[2], `next, not yet, ${text}`);
      }
      assert.doesNotMatch(lines({ others: taking(5, 5) }).join(), /usually/);
      const backwards = bare({ started_at: at(-1), completed_at: at(-2) });
      assert.doesNotMatch(lines({ detail: backwards }).join(), /after|usually/);
    });

    it('shows where the run was submitted and whether the response was lost', () => {
      const attempt = { started: { localMs: 1 } };
      const receipt = receiptOf({ attempts: [attempt, attempt, attempt] }, { how: 'found' });
      const [submitted = ''] = lines({ receipt });
      assert.match(submitted, /^done, time, From this machine: train\.jsonl, 3 attempts, .*lost/);
      assert.match(lines({ receipt: receiptOf({}, { how: 'recognised' }) })[0] ?? '', /confirmed/);
    });

    it('says that a run was charged once only if no other run has its marker', () => {
      const started = { localMs: 1, serviceMs: NOON_MS };
      const changes = { marker: 'ft-7k3m9qpx', attempts: [{ started }, { started }] };
      const note = (more: Given, how: ChargedReceipt['settled']['how'] = 'answered') =>
        lines({ receipt: receiptOf(changes, { how }), others: [DETAIL], ...more })[0]?.replace(
          /^.*jsonl, /,
          '',
        );
      assert.equal(note({}), 'Charged 2.50 USD once; the answer came at attempt 2');
      assert.equal(
        note({ kind: 'sandbox' }),
        'Charged 2.50 USD of sandbox money once; the answer came at attempt 2',
      );
      assert.equal(
        note({}, 'found'),
        '2 attempts, Charged 2.50 USD once: the response was lost, but the run was found',
      );
      const others = [DETAIL, { ...DETAIL, run_id: 'twin' }];
      assert.equal(note({ others }), '2 attempts');
      assert.equal(note({ others }, 'found'), '2 attempts, Response lost; found by its marker');
    });
  });

  describe('adapter', () => {
    const record = (more: Partial<DownloadRecord> = {}) =>
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
    const available = { artifacts_available: true };

    it('is promised only if the service lists it, and buttons keep their places', () => {
      for (const [run, detail, text, enabled] of [
        [{ status: 'queued' }, bare({ status: 'queued' }), /^If the run completes/, ANY],
        [{ status: ' ' }, bare({ status: '' }), /^If the run completes/, ANY],
        [available, DETAIL, /can be downloaded/, ['Download Adapter…', ...ANY]],
        [{ ...available, artifacts_expires_at: at(10) }, DETAIL, /^This adapter has expired/, ANY],
        [{}, DETAIL, /lists no adapter/, ['Download Adapter…', ...ANY]],
      ] as const) {
        assert.match(section('adapter', { run, detail }).text, text);
        assert.deepEqual(actions({ run, detail }), enabled);
      }
      for (const [more, enabled] of [
        [{ downloads: [download('downloading')] }, ANY],
        [{ downloads: [download('interrupted')] }, ['Resume Download…', ...ANY]],
        [{ records: [record()] }, ['Inspect Adapter', 'Download Again…', ...ANY]],
        [{ records: [{ ...record(), isGone: true }] }, ['Download Adapter…', ...ANY]],
        // A web page was downloaded instead of the adapter.
        [{ records: [record({ verified: 'html' })] }, ['Download Again…', ...ANY]],
        [{ records: [record({ verified: 'damaged' })] }, ['Download Again…', ...ANY]],
        [{ records: [record({ artifactType: 'merged' })] }, ['Download Again…', ...ANY]],
      ] as [Given, string[]][])
        assert.deepEqual(actions({ run: available, ...more }), enabled);
    });

    it('shows the progress of downloads', () => {
      const shown = (state: ActiveDownload['state'], more: Partial<ActiveDownload> = {}) => {
        const [one] = section('adapter', { downloads: [download(state, more)] }).downloads;
        return [one?.text, one?.fraction, one?.isBusy, one?.buttons[0]?.label];
      };
      const name = 'Adapter: a.zip';
      assert.deepEqual(shown('downloading'), [
        '400 bytes of 1.0 kB · /home/a.zip',
        0.4,
        true,
        `Cancel: ${name}`,
      ]);
      assert.deepEqual(shown('interrupted').slice(2), [false, `Discard: ${name}`]);
      assert.equal(shown('downloading', { totalBytes: 0 })[1], undefined);
      assert.match(String(shown('verifying', { isKept: false })[0]), / · can’t be resumed$/);
      const texts = (['waiting', 'downloading', 'verifying', 'interrupted'] as const).map(
        (one) => shown(one)[0],
      );
      assert.equal(new Set(texts).size, 4);
    });

    it('shows how each file was verified and what can be done with it', () => {
      const kinds = ['zip', 'gzip', 'tar', 'safetensors', 'unread', 'length', 'html', 'damaged'] as const;
      const lines = kinds.map((verified) => {
        const [file] = section('adapter', { records: [record({ verified })] }).files;
        return file?.lines[1] ?? '';
      });
      assert.equal(new Set(lines).size, 5);
      assert.equal(lines.filter((line) => line.startsWith('Verified')).length, 4);
      const records = [
        record(),
        { ...record({ artifactType: 'merged', isGone: true }), filename: undefined },
      ];
      const { files } = section('adapter', { records });
      assert.deepEqual(
        files.map(({ name, isGone, buttons }) => [name, isGone, ...buttons.map(({ action }) => action)]),
        [
          ['Adapter: a.zip', false, 'inspect', 'reveal', 'copy', 'copy'],
          ['Other file (merged): unnamed', true, 'copy', 'copy'],
        ],
      );
      assert.match(files[1]?.lines[0] ?? '', /moved or deleted/);
    });
  });

  describe('money', () => {
    const values = (given: Given) => section('facts', given, 'money').facts.map(({ value }) => value);
    const missing = 'not provided';

    it('marks an assumed currency and makes up no values', () => {
      const detail = { ...DETAIL, assumedCurrency: 'USD' };
      assert.match(values({ detail, currency: 'EUR' })[0] ?? '', /^2\.50 USD \(.*assumed/);
      assert.match(values({ currency: 'EUR' })[0] ?? '', /^2\.50 \(/);
      assert.deepEqual(values({ receipt: receiptOf(), currency: 'EUR' })[0], '2.50 USD');
      const none = receiptOf({}, { run: { run_id: 'r' } });
      assert.deepEqual(values({ detail: bare(), receipt: none }), [missing, missing, missing]);
      assert.deepEqual(values({ detail: undefined }), ['loading…', 'loading…']);
    });

    it('shows the effect on the balance, including what the price doesn’t explain', () => {
      const after = (cents: number, currency = 'USD') =>
        receiptOf({}, { run: { run_id: 'r', currency, balance_after_cents: cents } });
      assert.deepEqual(values({ receipt: after(700) }).slice(2), [
        '10.00 USD before, 7.00 USD after',
        '-0.50 USD',
      ]);
      assert.equal(values({ receipt: after(750) }).length, 3);
      assert.doesNotMatch(values({ receipt: after(7, 'EUR') }).join(), /before/);
    });

    it('shows the estimate before the charge, and a price outside of it', () => {
      const estimateOf = (lowCents: number) => ({
        before: { kind: 'range', lowCents, highCents: 410, currency: 'USD', runs: 5 } as const,
        accuracy: { correct: 4, of: 5 },
      });
      const receipt = receiptOf();
      const { facts, note } = section('facts', { receipt, estimate: estimateOf(240) }, 'money');
      assert.ok(facts.some(({ key, value }) => key === 'estimate' && value === '2.40–4.10 USD'));
      assert.match(note ?? '', /at most in proportion\. Such a range held for 4 of your last 5 runs\.$/);
      const outside = section('facts', { receipt, estimate: estimateOf(280) }, 'money');
      assert.equal(outside.note, 'Charged 2.50 USD, outside the estimate of 2.80–4.10 USD.');
      const same = { kind: 'same', priceCents: 250, currency: 'USD', atMs: 0 } as const;
      const again = { receipt, estimate: { ...estimateOf(240), before: same } };
      assert.ok(values(again).includes('2.50 USD last time'));
      assert.equal(section('facts', again, 'money').note, undefined);
      const failed = { run: { status: 'failed' }, detail: bare({ status: 'failed', price_cents: 250 }) };
      assert.deepEqual(
        [280, 240].map(
          (low) => section('facts', { ...failed, receipt, estimate: estimateOf(low) }, 'money').note,
        ),
        [outside.note, note],
      );
    });

    it('notes that the price was charged if the run’s status is unclear', () => {
      const note = (status: string, given: Given = {}) =>
        section('facts', { run: { status }, detail: bare({ status, price_cents: 1 }), ...given }, 'money')
          .note;
      assert.match(note('busy') ?? '', /^Charged when the run was submitted/);
      assert.deepEqual([note('queued'), note('busy', { detail: bare() })], [undefined, undefined]);
    });
  });

  it('says of a run that reads as failed what it cost and whom to contact, with no rows that stay empty', () => {
    const failed = { run: { status: 'failed' }, detail: bare({ status: 'failed' }) };
    const notice = (given: Given) =>
      stateOf({ ...failed, ...given }).notices.map(({ text, buttons }) =>
        [text, ...buttons.map(({ action, target, words }) => `${action} ${target}: ${words}`)].join(' | '),
      );
    const copyId = 'copy r: Copy Run ID';
    assert.deepEqual(notice({ receipt: receiptOf() }), [
      `Charged 2.50 USD. Contact the service with run r. | ${copyId}`,
    ]);
    assert.deepEqual(notice({}), [`The price is unknown. Contact the service with run r. | ${copyId}`]);
    assert.deepEqual(notice({ kind: 'sandbox', receipt: receiptOf() }), [
      `The run cost 2.50 USD of sandbox money. | ${copyId}`,
    ]);
    assert.deepEqual(notice({ detail: undefined }), []);
    const { sections } = stateOf(failed);
    assert.deepEqual(
      sections.map(({ key }) => key),
      ['timeline', 'run'],
    );
    assert.doesNotMatch(JSON.stringify(sections), /not provided|If the run completes/);
  });

  describe('receipt', () => {
    it('shows the dataset and consents, and whether the file has changed since', () => {
      const receipt = receiptOf({ created: { localMs: 5 } });
      const { sizeBytes } = receipt.dataset;
      const now = (file: { sizeBytes: number; changedAtMs: number } | null) =>
        fact({ receipt, dataset: file }, 'dataset', 'now');
      assert.match(now({ sizeBytes, changedAtMs: 5 }) ?? '', /^unchanged/);
      assert.match(now({ sizeBytes, changedAtMs: 6 }) ?? '', /^modified since$/);
      assert.equal(now({ sizeBytes: 1, changedAtMs: 0 }), 'modified since');
      assert.match(now(null) ?? '', /deleted/);
      assert.equal(fact({ receipt }, 'dataset', 'now'), undefined);
      const buttons = (dataset: RunPageView['dataset']) =>
        section('facts', { receipt, dataset }, 'dataset').facts[0]?.buttons.map(({ action }) => action);
      assert.deepEqual(
        [buttons({ sizeBytes, changedAtMs: 5 }), buttons(null)],
        [['openDataset', 'copy'], ['copy']],
      );
      const rest = {
        ...receipt,
        dataset: { ...receipt.dataset, rows: undefined },
      } as unknown as ChargedReceipt;
      assert.equal(fact({ receipt: rest }, 'dataset', 'rows'), 'unknown');
      assert.equal(fact({ receipt }, 'run', 'idempotency'), receipt.id);
    });

    it('is reported as missing only if that is certain', () => {
      const note = (given: Given) => section('facts', given, 'run').note;
      assert.match(note({}) ?? '', /Submitted elsewhere/);
      for (const receiptLoading of ['loading', 'failed'] as const)
        assert.equal(note({ receiptLoading }), undefined);
      assert.equal(note({ receipt: receiptOf() }), undefined);
    });

    it('distinguishes the shown links only if it is known which is which', () => {
      const names = (urls: string[]) => {
        const accepted_at = at(0);
        const consents = { model_terms: { accepted_at, urls }, data_policy: { accepted_at } };
        return section('facts', { receipt: receiptOf({ consents }) }, 'consents')
          .facts.filter(({ key }) => key.startsWith('link'))
          .map(({ name }) => name);
      };
      assert.equal(new Set(names(['https://a.test', 'https://b.test'])).size, 2);
      assert.deepEqual(names(['https://a.test']), names([]));
    });
  });

  it('names the run by its label without the marker, or else by its model', () => {
    const titles = (label?: string) => {
      const detail = bare(label === undefined ? {} : { label });
      const { title, state } = pageOf({ detail });
      return [title, state.heading.title, fact({ detail }, 'run', 'label')];
    };
    const marked = 'maths ft-7k3m9qpx';
    assert.deepEqual(titles(marked).slice(0, 2), ['Run: maths', 'maths']);
    assert.match(titles(marked)[2] ?? '', /^maths ft-7k3m9qpx$/);
    assert.deepEqual(titles('plain')[2], 'plain');
    assert.deepEqual(titles(), ['Run: Model M', 'Model M', 'none']);
    assert.deepEqual(stateOf({ detail: bare() }).heading.lines, ['Account: Work']);
    assert.equal(stateOf().heading.lines[0], 'Model: Model M');
    // The name stands once; below is only what the heading lacks.
    const isNamed = (given: Given, name: string) => JSON.stringify(stateOf(given)).split(name).length - 1;
    assert.deepEqual([isNamed({}, 'Model M'), fact({}, 'run', 'model')], [1, 'm']);
    const unnamed = { run: { model_id: 'base-7b' } };
    assert.deepEqual([isNamed(unnamed, 'base-7b'), fact(unnamed, 'run', 'model')], [1, undefined]);
    assert.match(stateOf({ kind: 'sandbox' }).heading.lines.join(), /Sandbox: /);
    assert.equal(fact({ detail: undefined }, 'run', 'label'), 'loading…');
    const other = bare({ status: 'done' });
    assert.equal(fact({ detail: other }, 'run', 'status'), 'done');
  });

  it('explains why the page is out of date', () => {
    const notices = (given: Given) =>
      stateOf(given).notices.map(({ kind, text, buttons }) => [
        kind,
        text.split(/[ :]/)[0],
        ...buttons.map(({ action }) => action),
      ]);
    assert.deepEqual(notices({}), []);
    assert.deepEqual(notices({ sessionState: 'offline' }), [['warning', 'Offline', 'refresh']]);
    assert.deepEqual(notices({ failure: new Error(), isActive: false }), [
      ['warning', 'Couldn’t', 'refresh'],
      ['info', 'Not', 'useAccount'],
    ]);
  });

  it('explains why there is nothing to show, and hides data read with a rejected API key', () => {
    const notFound = new ServiceError('not_found', 404, '');
    for (const [given, kind, actions] of [
      [{ isGone: true }, 'info', []],
      [{ sessionState: 'key-rejected' }, 'error', ['replaceKey']],
      [{ sessionState: 'key-missing' }, 'error', ['replaceKey']],
      [{ run: null, failure: notFound }, 'warning', ['switchAccount', 'refresh']],
      [{ run: null, failure: notFound, kind: 'sandbox' }, 'info', []],
      [{ run: null, failure: new ServiceError('x', 500, HOSTILE) }, 'error', ['refresh']],
      ...['constructor', '__proto__', 'too-late'].map((code) => [
        { run: null, failure: new ServiceError(code, 500) },
        'error',
        ['refresh'],
      ]),
      [{ run: null, isReading: true }, 'info', []],
      [{ run: null }, 'info', ['refresh']],
    ] as [Given, string, string[]][]) {
      const { title, state } = pageOf({ receipt: receiptOf(), ...given });
      const [notice, ...more] = state.notices;
      assert.deepEqual([notice?.kind, notice?.buttons.map(({ action }) => action)], [kind, actions]);
      assert.deepEqual([more, state.actions, state.sections], [[], [], []]);
      assert.doesNotMatch(JSON.stringify([title, state]), /maths|train|2\.50|resend|\u202e|\]\(/);
    }
  });

  it('sanitizes text from other clients and from the service', () => {
    const label = `${HOSTILE}${'y'.repeat(5_000)}`;
    const detail = { ...DETAIL, label, plan: HOSTILE, status: HOSTILE };
    const dataset = { ...intentOf().dataset, filename: HOSTILE };
    const { title, state } = pageOf({
      detail,
      run: { status: HOSTILE, model_id: HOSTILE },
      receipt: receiptOf({ dataset }),
    });
    const texts = JSON.stringify([title, state]);
    assert.doesNotMatch(texts, /\\n|\u202e|y{255}|\]\(/);
    assert.ok(texts.includes(SHOWN));
    assert.equal(
      stateOf({ run: { status: '' }, detail: bare({ status: '' }) }).heading.status,
      'Status unknown',
    );
    assert.equal(fact({ run: { status: ' ' }, detail: bare({ status: '' }) }, 'run', 'status'), 'unknown');
  });
});
