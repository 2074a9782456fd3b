import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Submission } from '../../../../src/core/submission/submission.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';

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
    [pending, unreadable, modelName] = [[], [], 'Qwen 3 8B'];
    const submissions = {
      get pending() {
        return pending;
      },
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
      pendingOf('idle', submissionOf({ id: 'home', accountId: 'Home', attempts })),
      pendingOf('validating', submissionOf({ id: 'gone', accountId: 'signed-out', attempts })),
      pendingOf('idle', submissionOf({ id: 'own' })),
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
    assert.equal(rows.message, 'You may have been charged: a submission record can’t be read.');
    unreadable = ['a', 'b'];
    assert.equal(rows.message, 'You may have been charged: 2 submission records can’t be read.');
    assert.deepEqual(rows.rowIds, []);
  });

  it('shows the time of rows that would read alike after their first words', () => {
    const created = (minute: number) => ({
      created: { localMs: new Date(2026, 4, 3, 22, minute).getTime() },
    });
    const other = { accountId: 'Home' };
    pending = [
      pendingOf('idle', submissionOf({ id: 'one', ...created(41) })),
      pendingOf('idle', submissionOf({ id: 'two', ...created(42) })),
      pendingOf('idle', submissionOf({ id: 'three', ...created(43), ...other })),
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
    const states = ['queued', 'uploading', 'validating', 'waiting', 'idle'] as const;
    pending = states.map((id) => pendingOf(id, submissionOf({ id })));
    assert.deepEqual(rows.tickingIds, ['uploading']);
  });

  it('says first whether there was a charge, and has at most one button: to check, continue or cancel', () => {
    mock.timers.enable({ apis: ['Date'], now: NOW_MS });
    const attempts = [uploadedAttempt(minutesAgo(125))];
    const created = { localMs: minutesAgo(150) };
    const of = (state: PendingSubmission['state'], changes: Partial<Submission> = {}, live = {}) =>
      pendingOf(state, submissionOf({ created, keyId: 'first', ...changes }), live);
    const cleared = { stage: 'cleared', attempts } as const;
    const old = { localMs: minutesAgo(23 * 60) };
    const upload = { sentBytes: 120_000_000, startedAtMs: NOW_MS - 12_000, attempt: 1 };
    const cases: Record<string, PendingSubmission> = {
      uploading: of('uploading', {}, upload),
      'uploading, maybe charged': of('uploading', { attempts }, { ...upload, attempt: 2 }),
      'in another window': of('elsewhere'),
      'sent, with a label, of another account': of('idle', { label: 'My run', accountId: 'Home', attempts }),
      cleared: of('idle', cleared),
      // Only the dialog says why it can't be sent again.
      'cleared, more than 23 hours ago': of('idle', { ...cleared, created: old }),
      'cleared, another API key': of('idle', { ...cleared, keyId: 'second' }),
      'before its first look': of('unchecked'),
      'before its first look, offline': of('unchecked', { accountId: 'Offline' }),
      'its look is not answered': of('unchecked', {}, { hasLooked: true }),
      interrupted: of('idle'),
      'interrupted, more than 23 hours ago': of('idle', { created: old }),
      'interrupted, the service asked you to wait': of('idle', { notBefore: { localMs: minutesAgo(-60) } }),
      'cleared, the service asked you to wait': of('idle', {
        ...cleared,
        notBefore: { localMs: minutesAgo(-60) },
      }),
      refused: of('idle', { attempts, ...refusedWith('insufficient_balance') }),
    };
    const golds = Object.entries(cases).map(([name, one]) => {
      pending = [one];
      return [name, shown(one.id)];
    });
    golden('submission-rows', Object.fromEntries(golds) as Record<string, string[]>);
  });

  it('sanitizes hostile text', () => {
    const dataset = { ...submissionOf().dataset, filename: HOSTILE };
    modelName = HOSTILE;
    pending = [pendingOf('idle', submissionOf({ id: 'one', label: HOSTILE, dataset }))];
    const { accessibilityInformation, description, label, tooltip } = rows.item('one');
    assert.equal(label, 'Free <U+…U+200B>');
    assert.ok(JSON.stringify(tooltip).startsWith(`"${SHOWN}`));
    assert.doesNotMatch(
      JSON.stringify([accessibilityInformation, description, tooltip]),
      /\$\(|\]\(|\u202e|\u200b/,
    );
  });
});
