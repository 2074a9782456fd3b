import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { UnreadRecord } from '../../../../src/core/submission/unreadRecord.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { damagedRecord, intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const { SubmissionRows } = await withVscode(() => import('../../../../src/ui/submission/submissionRows.ts'));

const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';
const SHOWN = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';

describe('SubmissionRows', () => {
  let rows: InstanceType<typeof SubmissionRows>;
  let pending: PendingSubmission[];
  let damaged: UnreadRecord[];
  let sessions: { active: object | undefined; find: (id: string) => object | undefined };

  beforeEach(() => {
    const sessionOf = (id: string) => ({
      account: { id, name: id },
      models: { nameOf: () => HOSTILE },
      keyId: 'first',
    });
    const [active, other] = [sessionOf('account-1'), sessionOf('Home')];
    sessions = { active, find: (id) => [active, other].find(({ account }) => account.id === id) };
    pending = [];
    damaged = [];
    const submitter = {
      get pending() {
        return pending;
      },
    };
    const journal = {
      get damaged() {
        return damaged;
      },
      onDidChangeDamaged: new Emitter<void>().event,
    };
    rows = new SubmissionRows(sessions as unknown as Sessions, submitter, journal);
  });

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

  it('lists records that can’t be read, also of signed-out accounts, with what is known', () => {
    pending = [pendingOf('unsent', intentOf({ id: 'own' }))];
    const open = intentOf({ marker: 'ft-7k3m9qpx' });
    damaged = [
      damagedRecord('known', open),
      damagedRecord('home', { ...open, accountId: 'Home' }),
      damagedRecord('gone', { ...open, accountId: 'signed-out' }),
      damagedRecord('other'),
    ];
    assert.deepEqual(rows.rowIds, ['own', 'known', 'home', 'gone', 'other']);
    const shown = rows.rowIds.slice(1).map((id) => {
      const { label, description, command, contextValue } = rows.item(id);
      assert.deepEqual([command?.arguments, contextValue], [[id], 'submission.damaged']);
      return [label, description];
    });
    assert.deepEqual(shown, [
      ['train.jsonl', 'May be charged · record damaged'],
      ['train.jsonl', 'May be charged · record damaged · Home'],
      ['train.jsonl', 'May be charged · record damaged'],
      ['other.json', 'Record damaged'],
    ]);
    const { accessibilityInformation, tooltip } = rows.item('home');
    assert.equal(accessibilityInformation?.label, 'train.jsonl, May be charged, record damaged, Home');
    assert.equal(
      tooltip,
      'train.jsonl\nMay be charged · record damaged\nAccount: Home\nMarker: ft-7k3m9qpx\nFile: home.json',
    );
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

  it('lists uploading and waiting rows as ticking', () => {
    const states = ['queued', 'uploading', 'validating', 'waiting', 'unknown'] as const;
    pending = states.map((id) => pendingOf(id, intentOf({ id })));
    assert.deepEqual(rows.tickingIds, ['uploading', 'waiting']);
  });

  it('has at most one button in each state, to check, continue, cancel, or discard', () => {
    const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
    const { contributes } = JSON.parse(text) as {
      contributes: { menus: Record<string, { command: string; when: string; group: string }[]> };
    };
    const menuOf = (contextValue: string) =>
      (contributes.menus['view/item/context'] ?? []).flatMap(({ command, group, when }) => {
        const [, pattern, value] = /viewItem (?:=~ \/(.+)\/|== (\S+))$/.exec(when) ?? [];
        const fits = pattern === undefined ? value === contextValue : new RegExp(pattern).test(contextValue);
        return fits ? [`${command.replace('fineTuning.', '')} ${group.replace(/@.*/, '')}`] : [];
      });
    const inMenu = ['resolveSubmission 1_submission'];
    const cancels = ['cancelUpload inline', 'cancelUpload 1_submission', ...inMenu];
    const checks = ['checkSubmission inline', ...inMenu];
    const continues = ['continueSubmission inline', ...inMenu];
    for (const [states, expected] of [
      [['queued', 'uploading', 'waiting'], cancels],
      [['validating', 'checking', 'elsewhere'], inMenu],
      [['unknown'], checks],
      [['unsent', 'not-charged', 'refused'], continues],
    ] as const)
      for (const state of states) {
        pending = [pendingOf(state, intentOf({ id: 'one' }))];
        const item = rows.item('one');
        assert.deepEqual(item.command?.arguments, ['one'], state);
        assert.equal(item.command.command, 'fineTuning.resolveSubmission');
        assert.ok(item.iconPath !== undefined && item.description !== '', state);
        assert.ok(typeof item.tooltip === 'string' && item.tooltip.startsWith('train.jsonl\n'), state);
        assert.match(item.accessibilityInformation?.label ?? '', /^train\.jsonl, ./, state);
        assert.deepEqual(menuOf(item.contextValue ?? ''), expected, state);
      }
    damaged = [damagedRecord('other')];
    assert.deepEqual(menuOf(rows.item('other').contextValue ?? ''), ['discardRecord inline', ...inMenu]);
    // Only the dialog says why it can't be sent again.
    for (const [hours, keyId] of [
      [23, 'first'],
      [1, 'second'],
    ] as const) {
      const attempts = [uploadedAttempt(Date.now() - hours * 3_600_000)];
      pending = [pendingOf('not-charged', intentOf({ id: 'one', keyId, attempts }))];
      assert.deepEqual(menuOf(rows.item('one').contextValue ?? ''), inMenu, keyId);
    }
    pending = [pendingOf('waiting', intentOf({ id: 'one', attempts: [uploadedAttempt(Date.now())] }))];
    assert.deepEqual(menuOf(rows.item('one').contextValue ?? ''), inMenu, 'it may have been charged');
  });

  it('sanitizes hostile text', () => {
    const dataset = { ...intentOf().dataset, filename: HOSTILE };
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
