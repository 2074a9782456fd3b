import { commands, l10n } from 'vscode';
import { serviceOf } from '../../core/accounts/account.ts';
import type { Model } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import { earlierSubmissionsOf } from '../../core/submission/earlier.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { CHARGE, moneySentence } from '../shared/chargeText.ts';
import type { CommandResult } from '../shared/commands.ts';
import { formatCount } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { unreadableText } from './submissionTexts.ts';

/** `continue` to submit beside what is open. A result: the end of the open submission chosen instead. */
export type BesideOpen = 'continue' | 'back' | CommandResult | undefined;

/** Deleting one file would leave a broken record: a record is several files. */
const KEEP_FILES = l10n.t('Don’t delete single files.');

type Parts = Pick<Services, 'agreedUnreadable' | 'journal' | 'submissions'>;

/** The open submissions of the bytes to be submitted, and those that the user agreed to submit beside. */
export class OpenSubmissions {
  readonly #session: Session;
  readonly #services: Parts;
  readonly #duplicates = new Set<string>();

  constructor(session: Session, services: Parts) {
    this.#session = session;
    this.#services = services;
  }

  /** IDs of open submissions and unreadable records that the user agreed to submit beside. */
  get agreed(): { duplicates: string[]; unreadable: string[] } {
    return { duplicates: [...this.#duplicates], unreadable: [...this.#services.agreedUnreadable] };
  }

  /** Asks about each of them, and about records that can't be read, once. */
  async confirm(sha256: string, filename: string, model: Model): Promise<BesideOpen> {
    const { journal } = this.#services;
    await journal.reload().catch(() => undefined);
    const { pending } = this.#services.submissions;
    const records = pending.map(({ intent }) => intent);
    const earlier = earlierSubmissionsOf(sha256, serviceOf(this.#session.account), { records });
    for (const { id } of earlier.toReversed()) {
      const one = pending.find((other) => other.id === id);
      if (one === undefined || this.#duplicates.has(id)) continue;
      const answer = await this.#confirmDuplicate(one, filename, model);
      if (answer !== 'continue') return answer;
      this.#duplicates.add(id);
    }
    return this.#confirmUnreadable();
  }

  async #confirmUnreadable(): Promise<BesideOpen> {
    const { journal, agreedUnreadable } = this.#services;
    const asked = journal.unreadable.filter((id) => !agreedUnreadable.has(id));
    if (asked.length === 0) return 'continue';
    const answer = await confirmUnreadable(asked.length);
    if (answer === 'set-aside') {
      if (await confirmSetAside(asked.length)) await onDisk(journal.setAside(asked), 'submissions');
      return 'back';
    }
    if (answer === 'continue') for (const id of asked) agreedUnreadable.add(id);
    return answer;
  }

  /**
   * Asks about an open submission of the same dataset. With the same account and model, a second one is not
   * allowed: the service would charge twice.
   */
  async #confirmDuplicate(one: PendingSubmission, filename: string, model: Model): Promise<BesideOpen> {
    const { id, accountId, intent } = one;
    const { account, models } = this.#session;
    const isOther = accountId !== account.id;
    const isSame = !isOther && intent.model_id === model.model_id;
    const name = sanitizeServiceText(filename);
    const facts = [moneySentence(one, Date.now()), sanitizeServiceText(models.nameOf(intent.model_id))];
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

/**
 * Asks whether to submit although records can't be read: any may be an open submission of this dataset. The
 * first button sends nothing.
 */
async function confirmUnreadable(count: number): Promise<'continue' | 'back' | 'set-aside' | undefined> {
  const detail =
    count === 1
      ? l10n.t('If it is an open submission of this dataset, you could be charged twice.')
      : l10n.t('If one is an open submission of this dataset, you could be charged twice.');
  return askModal(showWarning, unreadableText(count), [detail, KEEP_FILES].join('\n'), {
    [TERMS.backToSummary]: 'back',
    [l10n.t('Continue Anyway')]: 'continue',
    [l10n.t('Set Aside…')]: 'set-aside',
  });
}

/** Asks whether the records that can't be read should no longer count. */
async function confirmSetAside(count: number): Promise<boolean> {
  const question =
    count === 1 ? l10n.t('Set the record aside?') : l10n.t('Set {0} records aside?', formatCount(count));
  const detail = [
    [CHARGE.mayHaveBeenCharged, l10n.t('Compare your balance and runs first.')].join(' '),
    count === 1
      ? l10n.t('Its files are moved to the folder “damaged”, and no longer count.')
      : l10n.t('Their files are moved to the folder “damaged”, and no longer count.'),
  ].join('\n');
  return (await askModal(showWarning, question, detail, { [l10n.t('Set Aside')]: true })) === true;
}
