import * as vscode from 'vscode';
import type { CheckFailure } from '../../core/datasets/errors.ts';
import type { Summary } from '../../core/datasets/summary.ts';
import { COMMANDS } from '../shared/ids.ts';
import { failureSentence, kindSentence, privacyPhrase, stoppingPhrase, verdictSentence } from './messages.ts';
import { showError, showInformation, showWarning } from '../shared/notifications.ts';
import { formatCount } from '../shared/format.ts';

export const checkWords = {
  checking: (name: string) => vscode.l10n.t('Checking {0}', name),
  checkingSeveral: (count: number) => vscode.l10n.t('Checking {0} datasets', formatCount(count)),
};

/**
 * Tells the verdict on a file that a person asked to check, with what can be done next.
 * @param canShow whether its problems stand in the Problems panel
 * @param isDirty whether an editor holds what was not checked
 */
export function tellVerdict(uri: vscode.Uri, summary: Summary, canShow: boolean, isDirty: boolean): void {
  const { l10n } = vscode;
  const name = nameOf(uri);
  const actions = new Map<string, string>();
  if (summary.kind === 'json-array') actions.set(arrayTitle(), COMMANDS.writeArrayAsLines);
  if (summary.verdict !== 'clean' && canShow) actions.set(problemsTitle(), COMMANDS.showDatasetProblems);
  actions.set(l10n.t('Preview'), COMMANDS.previewDataset);
  if (summary.kind === 'rows') actions.set(l10n.t('Submit…'), COMMANDS.submitDataset);
  const privacy = privacyPhrase(summary);
  const text = [
    verdictSentence(name, summary),
    ...(privacy === undefined ? [] : [l10n.t('Among them: {0}.', privacy)]),
    ...(isDirty ? [l10n.t('Unsaved changes were not checked.')] : []),
  ].join(' ');
  const show = summary.verdict === 'errors' ? showWarning : showInformation;
  void show(text, ...actions.keys()).then((choice) => {
    const command = choice === undefined ? undefined : actions.get(choice);
    if (command !== undefined) void vscode.commands.executeCommand(command, uri);
  });
}

/** Tells the verdicts on several files at once. */
export function tellVerdicts(summaries: readonly Summary[], failed: number): void {
  const { l10n } = vscode;
  // Why there is none was told of each.
  if (summaries.length + failed === 0) return;
  const count = (verdict: Summary['verdict']) => summaries.filter((one) => one.verdict === verdict).length;
  const parts = [
    [count('errors'), (n: string) => l10n.t('{0} with errors', n)],
    [count('warnings'), (n: string) => l10n.t('{0} with warnings', n)],
    [count('clean'), (n: string) => l10n.t('{0} without problems', n)],
    [failed, (n: string) => l10n.t('{0} not checked', n)],
  ] as const;
  const found = parts.filter(([n]) => n > 0).map(([n, say]) => say(formatCount(n)));
  const text =
    summaries.length === 1
      ? l10n.t('1 dataset checked: {0}.', found.join(', '))
      : l10n.t('{0} datasets checked: {1}.', formatCount(summaries.length), found.join(', '));
  const show = problemsTitle();
  const actions = count('clean') === summaries.length ? [] : [show];
  void showInformation(text, ...actions).then((choice) => {
    if (choice === show) void vscode.commands.executeCommand('workbench.panel.markers.view.focus');
  });
}

/** Tells why a check came to no verdict. @param again does it once more */
export function tellCheckFailed(name: string, failure: CheckFailure, again?: () => void): void {
  const title = againTitle();
  const actions = again === undefined || failure === 'missing' ? [] : [title];
  void showError(failureSentence(name, failure), ...actions).then((choice) => {
    if (choice === title) again?.();
  });
}

/** A submission stops here until a person has looked, or says in one more step that it shall go on. */
export async function stopAtProblems(
  uri: vscode.Uri,
  summary: Summary,
): Promise<'problems' | 'lines' | 'submit' | undefined> {
  const { l10n } = vscode;
  const detail =
    summary.kind === 'rows'
      ? [
          ...(summary.errors > 0
            ? [l10n.t('The service may refuse the file, or charge for rows that it cannot use.')]
            : []),
          ...(summary.secrets > 0
            ? [
                l10n.t(
                  'Secrets (API keys, private keys) would leave this machine, and a model can repeat what it learned.',
                ),
              ]
            : []),
          ...(summary.unchecked > 0 ? [notSearchedSentence()] : []),
        ].join(' ')
      : [kindSentence(summary.kind), ...(summary.kind === 'json-array' ? [] : [notSearchedSentence()])].join(
          ' ',
        );
  const problems = problemsTitle();
  const lines = arrayTitle();
  const submit = l10n.t('Submit Anyway…');
  const choice = await showWarning(
    l10n.t('{0} is not ready to be submitted: {1}.', nameOf(uri), stoppingPhrase(summary)),
    { modal: true, detail: `${detail} ${l10n.t('Nothing has been sent.')}` },
    problems,
    ...(summary.kind === 'json-array' ? [lines] : []),
    submit,
  );
  return choice === problems
    ? 'problems'
    : choice === lines
      ? 'lines'
      : choice === submit
        ? 'submit'
        : undefined;
}

/** The one more step: names what will be sent, with what is wrong about it, and to whom. Enter shows the problems. */
export async function confirmProblems(
  name: string,
  summary: Summary,
  accountName: string,
): Promise<'problems' | 'submit' | undefined> {
  const { l10n } = vscode;
  const problems = problemsTitle();
  const goOn = l10n.t('Go On as It Is');
  const choice = await showWarning(
    l10n.t('Go on with {0} as it is?', name),
    {
      modal: true,
      detail: l10n.t(
        'The file would be sent to {0} with everything in it: {1}. Model, summary, terms and a last question come next.',
        accountName,
        stoppingPhrase(summary),
      ),
    },
    problems,
    goOn,
  );
  return choice === problems ? 'problems' : choice === goOn ? 'submit' : undefined;
}

/** A submission stops where its check came to no verdict. Only where the check itself failed it can go on without. */
export async function stopWithoutVerdict(
  name: string,
  failure: CheckFailure,
): Promise<'again' | 'unchecked' | undefined> {
  const { l10n } = vscode;
  const again = againTitle();
  const unchecked = l10n.t('Go On Unchecked…');
  const choice = await showWarning(
    failureSentence(name, failure),
    { modal: true, detail: l10n.t('Nothing has been sent.') },
    ...(failure === 'missing' ? [] : [again]),
    ...(failure === 'worker-died' ? [unchecked] : []),
  );
  return choice === again ? 'again' : choice === unchecked ? 'unchecked' : undefined;
}

/** The one more step where nothing was checked. */
export async function confirmUnchecked(
  name: string,
  accountName: string,
): Promise<'again' | 'unchecked' | undefined> {
  const { l10n } = vscode;
  const again = againTitle();
  const unchecked = l10n.t('Go On Unchecked');
  const choice = await showWarning(
    l10n.t('Go on with {0} unchecked?', name),
    {
      modal: true,
      detail: l10n.t(
        'The file would be sent to {0} although neither faults nor secrets in it were looked for. Model, summary, terms and a last question come next.',
        accountName,
      ),
    },
    again,
    unchecked,
  );
  return choice === again ? 'again' : choice === unchecked ? 'unchecked' : undefined;
}

function notSearchedSentence(): string {
  return vscode.l10n.t('What could not be checked was not searched for API keys and other secrets either.');
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1);
}

function problemsTitle(): string {
  return vscode.l10n.t('Show Problems');
}

function arrayTitle(): string {
  return vscode.l10n.t('Turn into Lines');
}

function againTitle(): string {
  return vscode.l10n.t('Check Again');
}
