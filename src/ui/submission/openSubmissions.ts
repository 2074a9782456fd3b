import { commands, l10n } from 'vscode';
import { serviceOf } from '../../core/accounts/account.ts';
import type { Model } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import { keyOf } from '../../core/storage/versions.ts';
import { earlierSubmissionsOf } from '../../core/submission/earlier.ts';
import type { KnownSubmissions } from '../../core/submission/journal.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { CHARGE, submissionTextOf } from './submissionText.ts';

/**
 * The submissions that the user knows of: the next one follows them. `back`: to the summary. A result: that of
 * the open submission that the user chose instead.
 */
type BesideOpen = KnownSubmissions | 'back' | CommandResult | undefined;

/** Asks about submissions of the same bytes that are open or can't be read. */
export class OpenSubmissions {
  readonly #session: Session;
  readonly #services: Pick<Services, 'journal' | 'submissions'>;
  /** IDs of submissions that the user has agreed to add another one to. */
  readonly #agreed = new Set<string>();

  constructor(session: Session, services: Pick<Services, 'journal' | 'submissions'>) {
    this.#session = session;
    this.#services = services;
  }

  /** Asks about each submission once. @param id of the one that is continued, if any @throws DiskError */
  async confirm(
    dataset: { sha256: string; filename: string },
    model: Pick<Model, 'model_id'>,
    id?: string,
  ): Promise<BesideOpen> {
    const { sha256 } = dataset;
    const { journal, submissions } = this.#services;
    const origin = serviceOf(this.#session.account);
    const known = await onDisk(
      journal.knownOf({ origin, model_id: model.model_id, dataset: { sha256 } }),
      'submissions',
    );
    const records = submissions.pending.map(({ submission }) => submission);
    for (const earlier of earlierSubmissionsOf(sha256, origin, { records }).toReversed()) {
      const one = submissions.pending.find((other) => other.id === earlier.id);
      if (one === undefined || one.id === id || this.#agreed.has(one.id)) continue;
      const answer = await this.#confirmDuplicate(one, dataset.filename, model);
      if (answer !== 'continue') return answer;
      this.#agreed.add(one.id);
    }
    // Also one that a later version of the extension wrote: it may have been charged, or discarded.
    const unreadable = known.filter(({ record }) => record === undefined).map(keyOf);
    if (unreadable.every((key) => this.#agreed.has(key))) return known;
    const answer = await askModal(showWarning, CHARGE.unreadable, '', {
      [TERMS.backToSummary]: 'back' as const,
      [l10n.t('Continue Anyway')]: 'continue' as const,
    });
    if (answer !== 'continue') return answer;
    for (const key of unreadable) this.#agreed.add(key);
    return known;
  }

  /**
   * Asks about an open submission of the same dataset. With the same account and model, a second one is not
   * allowed: the service would charge twice.
   */
  async #confirmDuplicate(
    one: PendingSubmission,
    filename: string,
    model: Pick<Model, 'model_id'>,
  ): Promise<'continue' | 'back' | CommandResult> {
    const { id, accountId, submission } = one;
    const { account, models } = this.#session;
    const isOther = accountId !== account.id;
    const isSame = !isOther && submission.model_id === model.model_id;
    const name = sanitizeServiceText(filename);
    const { sentence } = submissionTextOf(one, Date.now(), this.#session);
    const facts = [sentence, sanitizeServiceText(models.nameOf(submission.model_id))];
    const choice = await askModal(
      showWarning,
      isOther
        ? l10n.t('Another account on this service has an open submission of {0}.', name)
        : l10n.t('A submission of {0} is already open.', name),
      isOther
        ? l10n.t(
            '{0}\nModel: {1}. If both accounts are really the same one, you could be charged twice.',
            ...facts,
          )
        : l10n.t('{0}\nModel: {1}. A run with a different model is charged separately.', ...facts),
      {
        [l10n.t('Show Submission')]: 'open',
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
