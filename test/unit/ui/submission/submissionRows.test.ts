import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const { SubmissionRows } = await withVscode(() => import('../../../../src/ui/submission/submissionRows.ts'));

const MENUS = (
  JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
    contributes: { menus: Record<string, { command: string; when: string; group: string }[]> };
  }
).contributes.menus;
const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';
const SHOWN = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';

const NOW_MS = new Date(2026, 4, 1, 14, 30).getTime();
const minutesAgo = (minutes: number) => NOW_MS - minutes * 60_000;

describe('SubmissionRows', () => {
  let rows: InstanceType<typeof SubmissionRows>;
  let modelName: string;
  let pending: PendingSubmission[];
  let unreadable: string[];
  /** Whether this window has begun a look. */
  let isTried: boolean;
  let sessions: { active: object | undefined; find: (id: string) => object | undefined };

  beforeEach(() => {
    const sessionOf = (id: string) => ({
      account: { id, name: id },
      models: { nameOf: () => modelName },
      keyId: 'first',
      state: id === 'Offline' ? 'offline' : 'ready',
    });
    const all = ['account-1', 'Home', 'Offline'].map(sessionOf);
    sessions = { active: all[0], find: (id) => all.find(({ account }) => account.id === id) };
    [pending, unreadable, modelName, isTried] = [[], [], 'Qwen 3 8B', true];
    const submissions = {
      get pending() {
        return pending;
      },
      wasTried: () => isTried,
    };
    const journal = {
      get unreadable() {
        return unreadable;
      },
      onDidChangeUnreadable: new Emitter<void>().event,
    };
    rows = new SubmissionRows(sessions as unknown as Sessions, submissions, journal);
  });

  /** What a row shows and offers; it opens the dialog of its submission. */
  const shown = (id: string) => {
    const { label, description, command, contextValue = '', iconPath, ...rest } = rows.item(id);
    assert.deepEqual([command?.command, command?.arguments], ['fineTuning.resolveSubmission', [id]]);
    const menu = (MENUS['view/item/context'] ?? []).filter(({ when }) => {
      const [, pattern, value] = /viewItem (?:=~ \/(.+)\/|== (\S+))$/.exec(when) ?? [];
      return pattern === undefined ? value === contextValue : new RegExp(pattern).test(contextValue);
    });
    const commandsOf = (inline: boolean) =>
      menu
        .filter(({ group }) => group.startsWith('inline') === inline)
        .map(({ command }) => command.replace('fineTuning.', ''));
    return [
      [label as string, (iconPath as { id: string }).id, description, ...commandsOf(true)].join(' | '),
      `menu: ${commandsOf(false).join()}`,
      `label: ${rest.accessibilityInformation?.label}`,
      `tooltip: ${(rest.tooltip as string).split('\n').join(' | ')}`,
    ];
  };

  afterEach(() => mock.timers.reset());

  it('lists the active account first, then others with their names, but no signed-out accounts', () => {
    const attempts = [uploadedAttempt(Date.now())];
    pending = [
      pendingOf('unknown', intentOf({ id: 'home', accountId: 'Home', attempts })),
      pendingOf('validating', intentOf({ id: 'gone', accountId: 'signed-out', attempts })),
      pendingOf('unsent', intentOf({ id: 'own' })),
    ];
    assert.deepEqual(rows.rowIds, ['own', 'home']);
    assert.match(String(rows.item('home').description), / · Home$/);
    assert.doesNotMatch(String(rows.item('own').description), /account-1/);
    sessions.active = undefined;
    assert.deepEqual(rows.rowIds, ['home', 'own']);
  });

  it('says above them how many records can’t be read, as long as there are any', () => {
    assert.equal(rows.message, '');
    unreadable = ['a'];
    assert.equal(rows.message, 'A submission record can’t be read.');
    unreadable = ['a', 'b'];
    assert.equal(rows.message, '2 submission records can’t be read.');
    assert.deepEqual(rows.rowIds, []);
  });

  it('shows the time of rows that would read alike after their first words', () => {
    const created = (minute: number) => ({
      created: { localMs: new Date(2026, 4, 3, 22, minute).getTime() },
    });
    const other = { accountId: 'Home' };
    pending = [
      pendingOf('unsent', intentOf({ id: 'one', ...created(41) })),
      pendingOf('unsent', intentOf({ id: 'two', ...created(42) })),
      pendingOf('unsent', intentOf({ id: 'three', ...created(43), ...other })),
    ];
    const textOf = (id: string) => {
      const { label, description, accessibilityInformation } = rows.item(id);
      const texts = [label as string, description as string, accessibilityInformation?.label];
      return texts.join(' | ').replaceAll('\u202f', ' ');
    };
    assert.equal(
      textOf('one'),
      'trai…sonl | Not charged · 10:41 PM · upload stopped | train.jsonl, Not charged, 10:41 PM, upload stopped',
    );
    assert.match(textOf('two'), / 10:42 PM /);
    assert.match(textOf('three'), /^train\.jsonl \| Not charged · upload stopped · Home \|/);
  });

  it('lists uploading rows as ticking: others change by an event', () => {
    const states = ['queued', 'uploading', 'validating', 'waiting', 'unknown'] as const;
    pending = states.map((id) => pendingOf(id, intentOf({ id })));
    assert.deepEqual(rows.tickingIds, ['uploading']);
  });

  it('says first whether there was a charge, and has at most one button, to check, continue, cancel, or discard', () => {
    mock.timers.enable({ apis: ['Date'], now: NOW_MS });
    const ofNoon = (changes: Partial<Intent> = {}) =>
      intentOf({ created: { localMs: minutesAgo(150) }, ...changes });
    const attempts = [uploadedAttempt(minutesAgo(125))];
    const unknown = (changes: Partial<Intent> = {}) =>
      pendingOf('unknown', ofNoon({ attempts, keyId: 'first', ...changes }));
    const checked = (...candidates: string[]) =>
      unknown({ lastCheck: { at: { localMs: minutesAgo(25) }, complete: true, candidates } });
    const live = { sentBytes: 120_000_000, startedAtMs: NOW_MS - 12_000, attempt: 1 };
    const of = (state: PendingSubmission['state'], changes: Partial<PendingSubmission> = {}) =>
      pendingOf(state, ofNoon(), changes);
    const closed = (minutes: number) =>
      pendingOf(
        'validating',
        ofNoon({ attempts: [{ started: { localMs: 0 }, closed: { localMs: minutesAgo(minutes) } }] }),
      );
    const refused = (code: string) =>
      pendingOf('refused', ofNoon({ attempts, refused: { at: { localMs: NOW_MS }, code } }));
    const notCharged = (changes: Partial<Intent> = {}) =>
      pendingOf('not-charged', ofNoon({ attempts, keyId: 'first', ...changes }));
    const asked = (minutes: number) => ({
      ...{ started: { localMs: minutesAgo(1) }, ended: { localMs: minutesAgo(1) } },
      ...{ code: 'rate_limited', notBefore: { localMs: minutesAgo(-minutes) } },
    });
    const sent = uploadedAttempt(minutesAgo(1));
    const long = [uploadedAttempt(minutesAgo(23 * 60))];
    const codes = ['insufficient_balance', 'model_not_available', 'invalid_api_key', 'validation_failed'];
    const cases: Record<string, PendingSubmission> = {
      queued: of('queued'),
      'nothing uploaded': of('uploading', { sentBytes: 0, attempt: 1 }),
      uploading: of('uploading', live),
      'uploading again': of('uploading', { ...live, attempt: 2 }),
      validating: of('validating', { attempt: 1 }),
      'validating for less than a minute': closed(0.9),
      'validating for minutes': closed(4.5),
      waiting: of('waiting', { attempt: 1, retryAtMs: NOW_MS + 12_000 }),
      'waiting as the service asks': of('waiting', { retryAtMs: NOW_MS + 3_480_000, isAsked: true }),
      'waiting, maybe charged': pendingOf('waiting', ofNoon({ attempts }), {
        attempt: 1,
        retryAtMs: NOW_MS,
      }),
      checking: of('checking'),
      'in another window': of('elsewhere'),
      unknown: unknown(),
      ...Object.fromEntries(
        [429, 503, 500].map((httpStatus) => [
          `unknown, after ${httpStatus}`,
          unknown({ attempts: attempts.map((one) => ({ ...one, httpStatus })) }),
        ]),
      ),
      'unknown, with a label, of another account': unknown({ label: 'My run', accountId: 'Home' }),
      'unknown, a possible run': checked('r'),
      'unknown, possible runs': checked('r', 's'),
      'unknown, checked': checked(),
      'not charged': notCharged(),
      // Only the dialog says why it can't be sent again.
      'not charged, more than 23 hours ago': notCharged({
        attempts: long,
        created: { localMs: minutesAgo(23 * 60) },
      }),
      'not charged, another API key': notCharged({ keyId: 'second' }),
      'stopped, before its first look': of('stopped'),
      'stopped, offline': pendingOf('stopped', ofNoon({ accountId: 'Offline' })),
      'stopped, its look is not answered': of('stopped'),
      'cleared, not looked': checked(),
      unsent: of('unsent'),
      'unsent, more than 23 hours ago': pendingOf(
        'unsent',
        intentOf({ created: { localMs: minutesAgo(23 * 60) } }),
      ),
      'unsent, the service asked to wait': pendingOf('unsent', ofNoon({ attempts: [asked(60)] })),
      'unsent, the wait is over': pendingOf('unsent', ofNoon({ attempts: [asked(-1)] })),
      'unsent, no attempt began because of the wait': pendingOf(
        'unsent',
        ofNoon({ notBefore: { localMs: minutesAgo(-60) } }),
      ),
      'unsent, the service asked to wait after an attempt without an end': pendingOf(
        'unsent',
        ofNoon({ attempts: [{ started: { localMs: 0 } }, asked(60)] }),
      ),
      'not charged, the service asked to wait': notCharged({ attempts: [{ ...sent, ...asked(60) }] }),
      ...Object.fromEntries(codes.map((code) => [`refused: ${code}`, refused(code)])),
    };
    golden(
      'submission-rows',
      Object.fromEntries(
        Object.entries(cases).map(([name, one]) => {
          pending = [one];
          isTried = !/first look|offline/.test(name);
          return [name, shown(one.id)];
        }),
      ),
    );
  });

  it('sanitizes hostile text', () => {
    const dataset = { ...intentOf().dataset, filename: HOSTILE };
    modelName = HOSTILE;
    pending = [pendingOf('unsent', intentOf({ id: 'one', label: HOSTILE, dataset }))];
    const { accessibilityInformation, description, label, tooltip } = rows.item('one');
    assert.equal(label, 'Free <U+…U+200B>');
    assert.ok(JSON.stringify(tooltip).startsWith(`"${SHOWN}`));
    assert.doesNotMatch(
      JSON.stringify([accessibilityInformation, description, tooltip]),
      /\$\(|\]\(|\u202e|\u200b/,
    );
  });
});
