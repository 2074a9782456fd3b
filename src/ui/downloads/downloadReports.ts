import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import { DiskError } from '../../core/base/diskError.ts';
import { DownloadError, type DownloadRecord, type Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter } from '../../core/downloads/localFiles.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { compact, inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notify, showError, showInformation, showWarning } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { act, asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';

type Downloaded = Pick<DownloadRecord, 'runId' | 'path' | 'artifactType' | 'verified' | 'wasResumed'>;
type OfAccount = Pick<Session['account'], 'id' | 'kind'>;

type Labels = Pick<Session['runs'], 'label'>;

/** Returns the name of a run for sentences: its label, or part of its ID. */
export function runNameOf(runs: Labels, runId: string): string {
  return sanitizeServiceText(userLabel(runs.label(runId)) ?? l10n.t('run {0}', runId.slice(0, 8)));
}

/** Reports why a download failed, and offers to resume it or the action that fits the error. */
export function reportDownloadFailed(
  { account, runs }: Pick<Session, 'account' | 'runs'>,
  {
    downloads: { active },
    sandboxFault,
  }: { downloads: Pick<Downloads, 'active'> } & Pick<Services, 'sandboxFault'>,
  runId: string,
  error: unknown,
): void {
  const explanation = explain(error);
  const target = { accountId: account.id, id: runId };
  // An error of the disk or of the file itself would occur again.
  const canResume =
    !(error instanceof DiskError || error instanceof DownloadError) &&
    active.some((one) => one.accountId === account.id && one.runId === runId && one.state === 'interrupted');
  const download = (...mode: string[]) =>
    void commands.executeCommand(COMMANDS.downloadAdapter, target, ...mode);
  const fault = sandboxFault.get()(account, { error });
  const text = l10n.t(
    'Download of {0} failed. {1}',
    runNameOf(runs, runId),
    fault?.sentence ?? asText(explanation),
  );
  notify(showError, inSandbox(text, account.kind === 'sandbox'), {
    ...(canResume
      ? { [l10n.t('Resume')]: () => download('resume') }
      : { [explanation.action.title]: () => act(explanation.action, download) }),
    [TERMS.showLog]: () => commands.executeCommand(COMMANDS.showLog),
    ...fault?.button,
  });
}

/** Reports downloaded files, with a warning for each that may be unusable. */
export function reportDownloaded(files: readonly Downloaded[], account: OfAccount): void {
  const others = files.filter((file) => {
    const warning = warningFor(file);
    if (warning !== undefined) reportFile(showWarning, warning, file, account);
    return warning === undefined;
  });
  const file = others.find(({ artifactType }) => isAdapter(artifactType)) ?? others[0];
  if (file !== undefined) reportFile(showInformation, downloadedSentence(others, file), file, account);
}

function reportFile(
  show: typeof showInformation,
  sentence: string,
  file: Downloaded,
  { id: accountId, kind }: OfAccount,
): void {
  const uri = Uri.file(file.path);
  const reveal = revealOf(uri);
  const inspect = () => commands.executeCommand(COMMANDS.inspectAdapter, uri);
  const again = () => commands.executeCommand(COMMANDS.downloadAdapter, { accountId, id: file.runId });
  notify(show, inSandbox(sentence, kind === 'sandbox'), {
    ...(file.verified === 'damaged' && { [TERMS.downloadAgain]: again }),
    // A web page has nothing to inspect.
    ...(file.verified !== 'html' && { [TERMS.inspect]: inspect }),
    [reveal.title]: () => reveal.show(),
  });
}

/** Returns the warning about a file that is damaged or not known to be an adapter; undefined for others. */
function warningFor({ path: file, artifactType, verified }: Downloaded): string | undefined {
  const place = sanitizeServiceText(file, 400);
  if (verified === 'damaged') return l10n.t('The download is damaged and was kept as {0}.', place);
  if (!isAdapter(artifactType)) return undefined;
  if (verified === 'html') return l10n.t('Downloaded {0}, but it’s a web page, not an adapter.', place);
  return verified === 'length' ? l10n.t('Downloaded {0}, but its format is unknown.', place) : undefined;
}

function downloadedSentence(files: readonly Downloaded[], file: Downloaded): string {
  const folder = sanitizeServiceText(path.dirname(file.path), 400);
  if (files.length > 1) return l10n.t('Downloaded {0} files to {1}.', files.length, folder);
  const name = sanitizeServiceText(path.basename(file.path), 120);
  const isReadable = file.verified !== 'length' && file.verified !== 'unread';
  return compact(
    l10n.t('Downloaded {0} to {1}.', name, folder),
    file.wasResumed && l10n.t('It was interrupted and resumed.'),
    !isReadable && l10n.t('Only its size could be verified.'),
  ).join(' ');
}
