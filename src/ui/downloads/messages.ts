import path from 'node:path';
import { commands, l10n, ThemeIcon, Uri, window } from 'vscode';
import { DiskError } from '../../core/base/diskError.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { DownloadError } from '../../core/downloads/errors.ts';
import type { ActiveDownload, ArtifactName, DownloadRecord } from '../../core/downloads/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { compact, formatBytes, formatCount, formatRoughly, formatTime, inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, notify, showError, showInformation, showWarning } from '../shared/notifications.ts';
import { revealOf } from '../shared/openMessages.ts';
import { act, asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/termMessages.ts';

/** The progress of a download. */
export type DownloadView = Pick<ActiveDownload, 'state' | 'receivedBytes' | 'totalBytes'>;

type Downloaded = Pick<DownloadRecord, 'runId' | 'path' | 'artifactType' | 'verified' | 'completedAtMs'>;
type OfAccount = Pick<Session['account'], 'id' | 'kind'>;

export function downloadTitle(name: string): string {
  return l10n.t('Downloading {0}', name);
}

type Labels = Pick<Session['runs'], 'label'>;

/** Returns the name of a run for sentences: its label, or part of its ID. */
export function runNameOf(runs: Labels, runId: string): string {
  const label = withoutMarker(runs.label(runId) ?? '');
  return sanitizeServiceText(label === '' ? l10n.t('run {0}', runId.slice(0, 8)) : label);
}

/** Returns a fraction from 0 to 1; undefined if the length is unknown. */
export function downloadFraction({ receivedBytes, totalBytes }: DownloadView): number | undefined {
  return totalBytes === undefined ? undefined : totalBytes === 0 ? 1 : receivedBytes / totalBytes;
}

/** `40%`, or the received bytes if the length is unknown. */
export function downloadShare(view: DownloadView): string {
  const fraction = downloadFraction(view);
  return fraction === undefined ? formatBytes(view.receivedBytes) : `${Math.floor(fraction * 100)}%`;
}

/** The state of a download, or how much was received. */
export function downloadText(view: DownloadView): string {
  const { state, receivedBytes, totalBytes } = view;
  if (state === 'waiting') return l10n.t('waiting for the network');
  if (state === 'verifying') return l10n.t('verifying');
  if (state === 'interrupted') return l10n.t('interrupted at {0}', downloadShare(view));
  const received = formatBytes(receivedBytes);
  return totalBytes === undefined ? received : l10n.t('{0} of {1}', received, formatBytes(totalBytes));
}

/** The progress of one of several downloads. @param done how many are complete */
export function downloadProgressText(view: DownloadView, done: number, count: number): string {
  const text = downloadText(view);
  return count > 1 ? l10n.t('{0} of {1}: {2}', done + 1, count, text) : text;
}

export function listingTitle(): string {
  return l10n.t('Getting the download link');
}

/**
 * Reminds the user of adapters that will expire and are not on this machine.
 * @param first the adapter that expires first: the name of its run, and the time left by the service's clock
 */
export function remindOfExpiring(
  first: { name: string; leftMs: number },
  count: number,
  isSandbox: boolean,
  actions: { download: () => void; show: () => void },
): void {
  const text =
    count === 1
      ? l10n.t(
          'The adapter for {0} expires in {1} and isn’t downloaded.',
          first.name,
          formatRoughly(first.leftMs),
        )
      : l10n.t('{0} adapters expire within 24 h.', formatCount(count));
  notify(showWarning, inSandbox(text, isSandbox), {
    [count === 1 ? TERMS.download : l10n.t('Download…')]: actions.download,
    [TERMS.show]: actions.show,
  });
}

/** Reports why a download failed, and offers to resume it or the action that fits the error. */
export function reportDownloadFailed(
  { account, runs }: Pick<Session, 'account' | 'runs'>,
  { active }: Pick<Downloads, 'active'>,
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
  const text = l10n.t('Download of {0} failed. {1}', runNameOf(runs, runId), asText(explanation));
  notify(showError, inSandbox(text, account.kind === 'sandbox'), {
    ...(canResume
      ? { [l10n.t('Resume')]: () => download('resume') }
      : { [explanation.action.title]: () => act(explanation.action, download) }),
    [TERMS.showLog]: () => commands.executeCommand(COMMANDS.showLog),
  });
}

/** Asks for a download folder on the machine that the extension runs on. @param start the workspace's folder */
export async function chooseDownloadFolder(start: Uri | undefined): Promise<Uri | undefined> {
  const isOnDisk = (uri: Uri | undefined) => uri?.scheme === 'file';
  const chosen = await window.showOpenDialog({
    title: l10n.t('Choose a Folder for the Adapter'),
    openLabel: l10n.t('Download Here'),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    ...(start !== undefined && isOnDisk(start) && { defaultUri: start }),
  });
  const [folder] = chosen ?? [];
  if (folder === undefined || isOnDisk(folder)) return folder;
  void showWarning(l10n.t('Adapters can only be downloaded to a local folder.'));
  return undefined;
}

/** Asks which artifacts to download if there are several. @param artifacts the first one is preselected */
export async function chooseArtifacts(
  name: string,
  artifacts: readonly ArtifactName[],
): Promise<readonly ArtifactName[]> {
  if (artifacts.length <= 1) return artifacts;
  const chosen = await window.showQuickPick(
    artifacts.map((artifact, index) => ({
      label: sanitizeServiceText(artifact.filename ?? artifact.type, 120),
      description:
        artifact.type === 'model' ? l10n.t('the trained adapter') : sanitizeServiceText(artifact.type),
      iconPath: new ThemeIcon('file-zip'),
      picked: index === 0,
      artifact,
    })),
    {
      title: l10n.t('Download from {0}', name),
      canPickMany: true,
      ignoreFocusOut: true,
      matchOnDescription: true,
    },
  );
  return (chosen ?? []).map(({ artifact }) => artifact);
}

/** Asks whether to download under another name, since an existing file is never replaced. */
export async function confirmOtherName(name: string, otherName: string): Promise<boolean> {
  const question = l10n.t('{0} already exists in that folder.', name);
  const detail = l10n.t('The download will be saved as {0}.', otherName);
  return (await askModal(showWarning, question, detail, { [l10n.t('Keep Both')]: true })) === true;
}

/** Asks whether to create the missing download folder. `other`: the user chooses a folder this time. */
export function confirmDirectory(directory: string): Promise<'create' | 'other' | undefined> {
  return askModal(
    showWarning,
    l10n.t('The download folder does not exist.'),
    l10n.t('{0}\nThe drive may be disconnected.', directory),
    { [l10n.t('Create Folder')]: 'create', [TERMS.chooseFolder]: 'other' },
  );
}

/** Reports an unusable download folder. @param error undefined if the setting is not an absolute path to a folder */
export function reportUnusableFolder(text: string, error?: DiskError): void {
  const name = sanitizeServiceText(text, 400);
  const sentence =
    error === undefined
      ? l10n.t('The download folder “{0}” isn’t an absolute path to a folder.', name)
      : l10n.t('Can’t use the download folder “{0}”. {1}', name, asText(explain(error)));
  const open = () => commands.executeCommand('workbench.action.openSettings', 'fineTuning.downloadDirectory');
  notify(showWarning, sentence, { [l10n.t('Open Setting')]: open });
}

/** Asks whether to download an adapter again that is already on disk. */
export async function askDownloadAgain(
  name: string,
  { path: file, completedAtMs }: Downloaded,
): Promise<boolean> {
  const reveal = revealOf(Uri.file(file));
  const choice = await askModal(
    showInformation,
    l10n.t('The adapter for {0} is already downloaded.', name),
    factLine(formatTime(completedAtMs), file),
    { [TERMS.inspect]: 'inspect', [reveal.title]: 'reveal', [TERMS.downloadAgain]: 'again' },
  );
  if (choice === 'inspect') void commands.executeCommand(COMMANDS.inspectAdapter, Uri.file(file));
  if (choice === 'reveal') reveal.show();
  return choice === 'again';
}

/** Asks what to do with a run's interrupted downloads: `view` is of the first, `targets` are the paths of all. */
export function askInterrupted(
  name: string,
  view: DownloadView,
  targets: readonly string[],
): Promise<'resume' | 'restart' | undefined> {
  const question = l10n.t('The download of {0} was interrupted at {1}.', name, downloadShare(view));
  return askModal(showInformation, question, targets.join('\n'), {
    [l10n.t('Resume')]: 'resume',
    [l10n.t('Restart Download')]: 'restart',
  });
}

/** Asks whether to discard what was downloaded of an interrupted download. */
export async function confirmDiscard(name: string, view: DownloadView): Promise<boolean> {
  const question = l10n.t('Discard the interrupted download of {0}?', name);
  const detail = l10n.t('What was downloaded so far ({0}) will be deleted.', downloadShare(view));
  return (await askModal(showWarning, question, detail, { [TERMS.discard]: true })) === true;
}

/** Reports that this window is already downloading the adapter. */
export function reportDownloading(name: string, view: DownloadView, onCancel: () => void): void {
  const text = l10n.t('The adapter for {0} is already downloading: {1}.', name, downloadText(view));
  notify(showInformation, text, { [l10n.t('Cancel Download')]: onCancel });
}

export function reportNoDownload(): void {
  void showInformation(l10n.t('No download to cancel.'));
}

/** Reports downloaded files, with a warning for each that may be unusable. */
export function reportDownloaded(files: readonly Downloaded[], account: OfAccount): void {
  const others = files.filter((file) => {
    const warning = warningFor(file);
    if (warning !== undefined) reportFile(showWarning, warning, file, account);
    return warning === undefined;
  });
  const file = others.find(({ artifactType }) => artifactType === 'model') ?? others[0];
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
  if (artifactType !== 'model') return undefined;
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
    !isReadable && l10n.t('Only its size could be verified.'),
  ).join(' ');
}
