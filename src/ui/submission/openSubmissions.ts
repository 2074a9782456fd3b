import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import { serviceOf } from '../../core/accounts/account.ts';
import type { Model } from '../../core/api/types.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { isHeld, type UnreadRecord } from '../../core/submission/unreadRecord.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact, formatCount } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { moneySentence } from './submissionMoney.ts';
import { damagedState, stateText } from './submissionState.ts';

/** An open submission of the same bytes, and what is known of its charge: in a sentence, and in few words. */
export type OpenOne = Pick<Intent, 'id' | 'accountId' | 'model_id'> & {
  money: string;
  state: string;
  modelName: string;
  /** The account that it belongs to, if it isn't the active one. */
  otherAccount: string | undefined;
};

/** `continue` to submit beside what is open; how it ended if the user turned to an open submission instead. */
export type BesideOpen = 'continue' | 'back' | CommandResult | undefined;

/** How many files a question names; the others are counted. */
const MAX_NAMED = 5;

/** The open submissions of the bytes that are about to be submitted, and those that the user agreed to submit beside. */
export class OpenSubmissions {
  readonly #session: Session;
  readonly #services: Pick<Services, 'journal' | 'sessions' | 'submitter'>;
  readonly #duplicates = new Set<string>();
  readonly #unread = new Set<string>();

  constructor(session: Session, services: Pick<Services, 'journal' | 'sessions' | 'submitter'>) {
    this.#session = session;
    this.#services = services;
  }

  /** The IDs of open submissions and the stamps of unread records that the user agreed to. */
  get agreed(): { duplicates: string[]; unread: string[] } {
    return { duplicates: [...this.#duplicates], unread: [...this.#unread] };
  }

  /** Returns those of a dataset at the account's service, also those whose records can't be read. */
  of(sha256: string): OpenOne[] {
    const { account, models } = this.#session;
    const { journal, sessions, submitter } = this.#services;
    const nowMs = Date.now();
    const known = submitter
      .openOnesOf(account, sha256)
      .map((one) => ({ ...one.intent, money: moneySentence(one, nowMs), state: stateText(one, nowMs) }));
    const unread = journal.damaged
      .flatMap(({ hint }) => hint ?? [])
      .filter(({ origin, dataset }) => origin === serviceOf(account) && dataset.sha256 === sha256)
      .map((hint) => ({
        ...hint,
        money: l10n.t('You may have been charged: its record can’t be read.'),
        state: damagedState(),
      }));
    return [...known, ...unread].map((one) => ({
      ...one,
      modelName: models.nameOf(one.model_id),
      otherAccount: sessions.otherName(one.accountId),
    }));
  }

  /** Asks about each of them, and about unread records of unknown datasets, once. */
  async confirm(sha256: string, filename: string, model: Model): Promise<BesideOpen> {
    const { journal } = this.#services;
    await journal.reload().catch(() => undefined);
    const { damaged } = journal;
    for (const one of this.of(sha256)) {
      if (this.#duplicates.has(one.id)) continue;
      const answer = await this.#confirmDuplicate(one, filename, model);
      if (answer !== 'continue') return answer;
      this.#duplicates.add(one.id);
    }
    // The journal waits for those in use.
    const [first, ...others] = damaged.filter(
      (record) => record.hint === undefined && !isHeld(record) && !this.#unread.has(record.stamp),
    );
    if (first === undefined) return 'continue';
    const answer = await confirmUnread([first, ...others]);
    if (answer === 'continue') for (const { stamp } of [first, ...others]) this.#unread.add(stamp);
    return answer;
  }

  /**
   * Asks about an open submission of the same dataset. If the account and model are the same too, a second one is not allowed,
   * since the service would charge twice.
   */
  async #confirmDuplicate(
    { id, accountId, model_id, modelName, money }: OpenOne,
    filename: string,
    model: Model,
  ): Promise<BesideOpen> {
    const isOther = accountId !== this.#session.account.id;
    const isSame = !isOther && model_id === model.model_id;
    const name = sanitizeServiceText(filename);
    const facts = [money, sanitizeServiceText(modelName)];
    const choice = await askModal(
      showWarning,
      isOther
        ? l10n.t('Another account of this service has an open submission of {0}.', name)
        : l10n.t('A submission of {0} is already open.', name),
      isOther
        ? l10n.t('{0}\nModel: {1}. If they are the same account, you could be charged twice.', ...facts)
        : l10n.t('{0}\nModel: {1}. A run with another model is charged separately.', ...facts),
      {
        [l10n.t('Open It')]: 'open',
        ...(isSame ? { [TERMS.backToSummary]: 'back' } : { [TERMS.submitAnyway]: 'continue' }),
      },
    );
    const end =
      choice === 'open'
        ? await commands.executeCommand<CommandResult | undefined>(COMMANDS.resolveSubmission, id)
        : choice;
    return end ?? { outcome: 'cancelled' };
  }
}

/** Asks whether to submit although records can't be read, which are named. The first button sends nothing. */
async function confirmUnread(
  records: readonly [UnreadRecord, ...UnreadRecord[]],
): Promise<'continue' | 'back' | undefined> {
  const [{ file }] = records;
  const names = records.map((record) => sanitizeServiceText(path.basename(record.file)));
  const more = names.length - MAX_NAMED;
  const { title, show } = revealOf(Uri.file(file));
  const choice = await askModal(
    showWarning,
    records.length === 1
      ? l10n.t('A submission record can’t be read.')
      : l10n.t('{0} submission records can’t be read.', formatCount(records.length)),
    compact(
      ...names.slice(0, MAX_NAMED),
      more > 0 && l10n.t('{0} more', formatCount(more)),
      records.length === 1
        ? l10n.t('If it is an open submission of this dataset, you could be charged twice.')
        : l10n.t('If one is an open submission of this dataset, you could be charged twice.'),
    ).join('\n'),
    {
      [TERMS.backToSummary]: 'back',
      [l10n.t('Continue Anyway')]: 'continue',
      [title]: 'show',
    },
  );
  if (choice !== 'show') return choice;
  show();
  return 'back';
}
