import { commands, l10n, window } from 'vscode';
import { COMMANDS } from '../shared/ids.ts';
import { compact, formatCount, formatLeft, formatRuns, inSandbox } from '../shared/format.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/termMessages.ts';

export const filterWords = {
  title: () => l10n.t('Filter Runs'),
  placeholder: () => l10n.t('Search labels, models and IDs'),
  phase: () => l10n.t('Phase'),
  model: () => TERMS.model,
};

export const loadAllWords = {
  title: () => l10n.t('Loading all runs'),
  soFar: (count: number) => l10n.t('{0} so far', formatCount(count)),
};

export function notifyNoRunsLoaded(): void {
  void showInformation(l10n.t('No runs are loaded yet.'));
}

export function notifyRunIdCopied(): void {
  void window.setStatusBarMessage(l10n.t('Run ID copied'), 3_000);
}

/** @param retry loads the rest */
export function notifyNotAllLoaded(count: number, reason: string, retry: () => void): void {
  const text =
    count === 0
      ? l10n.t('Couldn’t load the runs. {0}', reason)
      : l10n.t('Loaded {0}, but not the older ones. {1}', formatRuns(count), reason);
  notify(showWarning, text, { [TERMS.loadMore]: retry });
}

/** The service reports more runs, but sends no new ones. */
export function notifyMayBeIncomplete(count: number, retry: () => void): void {
  const text = l10n.t('Loaded {0}. The service reports more, but sends none.', formatRuns(count));
  notify(showWarning, text, { [TERMS.loadMore]: retry });
}

/** The name of a run in a notification. */
export interface RunName {
  /** As the user entered it. */
  label: string | undefined;
  modelName: string;
}

function named({ label, modelName }: RunName): string {
  return sanitizeServiceText(label ?? modelName);
}

/** @param leftMs the time until the adapter expires; NaN if unknown. `download` is undefined if none is offered */
export function notifyCompleted(
  run: RunName,
  leftMs: number,
  isSandbox: boolean,
  { download, show }: { download: (() => void) | undefined; show: () => void },
): void {
  const text =
    download !== undefined && leftMs > 0
      ? l10n.t('{0} completed. Its adapter expires in {1}.', named(run), formatLeft(leftMs))
      : l10n.t('{0} completed.', named(run));
  notify(showInformation, inSandbox(text, isSandbox), {
    ...(download && { [TERMS.download]: download }),
    [TERMS.showRun]: show,
  });
}

/** Reports a status that the contract doesn't define, in the service's own words. */
export function notifyStatus(run: RunName, status: string, isSandbox: boolean, show: () => void): void {
  const text = l10n.t('{0}: the service reports “{1}”.', named(run), statusWord(status));
  notify(showInformation, inSandbox(text, isSandbox), { [TERMS.showRun]: show });
}

/**
 * Reports a run that reads as failed: it was charged when it was submitted.
 * @param price undefined if unknown
 */
export function notifyFailed(
  run: RunName,
  status: string,
  price: string | undefined,
  isSandbox: boolean,
  { copyId, show }: { copyId: () => void; show: () => void },
): void {
  const [name, word] = [named(run), statusWord(status)];
  let text: string;
  if (isSandbox)
    text =
      price === undefined
        ? l10n.t('{0}: the service reports “{1}”.', name, word)
        : l10n.t('{0}: the service reports “{1}”. It cost {2} of sandbox money.', name, word, price);
  else
    text =
      price === undefined
        ? l10n.t(
            '{0}: the service reports “{1}”. The price is unknown; contact the service with its run ID.',
            name,
            word,
          )
        : l10n.t(
            '{0}: the service reports “{1}”. Charged {2}; contact the service with its run ID.',
            name,
            word,
            price,
          );
  notify(showWarning, inSandbox(text, isSandbox), { [TERMS.copyRunId]: copyId, [TERMS.showRun]: show });
}

function statusWord(status: string): string {
  return sanitizeServiceText(status) || TERMS.unknown;
}

/**
 * Reports several runs at once.
 * @param failed the statuses of the runs that read as failed
 * @param others those of the runs that have neither failed nor completed
 */
export function notifySeveral(
  completed: number,
  failed: readonly string[],
  others: readonly string[],
  isSandbox: boolean,
  show: () => void,
): void {
  const reported = (statuses: readonly string[]) => {
    const words = [...new Set(statuses)].map((status) => l10n.t('“{0}”', statusWord(status)));
    return sanitizeServiceText(words.join(', '));
  };
  const reports = (statuses: readonly string[]) =>
    statuses.length > 0 &&
    l10n.t('The service reports {0} for {1}.', reported(statuses), formatRuns(statuses.length));
  const failures =
    isSandbox || failed.length === 0
      ? reports(failed)
      : failed.length === 1
        ? l10n.t(
            'The service reports {0} for 1 run, which was charged; contact it with the run ID.',
            reported(failed),
          )
        : l10n.t(
            'The service reports {0} for {1} runs, which were charged; contact it with the run IDs.',
            reported(failed),
            formatCount(failed.length),
          );
  const text = compact(
    completed > 0 && l10n.t('{0} completed.', formatRuns(completed)),
    failures,
    reports(others),
  ).join(' ');
  const say = failed.length > 0 && !isSandbox ? showWarning : showInformation;
  notify(say, inSandbox(text, isSandbox), { [l10n.t('Show Runs')]: show });
}

/** @param show shows the Runs view */
export function notifyRunsFromElsewhere(count: number, show: () => void): void {
  const text =
    count === 1
      ? l10n.t('1 run was submitted from another machine, profile or container.')
      : l10n.t('{0} runs were submitted from another machine, profile or container.', formatCount(count));
  notify(showInformation, text, { [l10n.t('Show Runs')]: show });
}

/** Doesn't repeat any text of the link, which anyone may have written. */
export function notifyUnsupportedLink(): void {
  void showWarning(l10n.t('Unsupported link. Fine-Tuning links can only open a run.'));
}

/** @param canSwitch whether there is another account */
export function notifyNoSuchRun(accountName: string, runId: string, canSwitch: boolean): void {
  const text = l10n.t('{0} has no such run: {1}', accountName, runId);
  const switchAccount = () => commands.executeCommand(COMMANDS.switchAccount);
  notify(showWarning, text, canSwitch ? { [TERMS.switchAccount]: switchAccount } : {});
}

export function findingRun(): string {
  return l10n.t('Finding the run…');
}
