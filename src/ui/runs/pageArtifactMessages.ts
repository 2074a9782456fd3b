import * as vscode from 'vscode';
import { formatBytes, formatTime } from '../shared/format.ts';
import { wholeText } from './pageMessages.ts';

/** What a run's artifacts are called: the contract names one kind, every other is told as it came. */
export function artifactName(type: string, filename: string | undefined): string {
  const { l10n } = vscode;
  const name = filename === undefined ? l10n.t('without a name') : wholeText(filename);
  return type === 'model'
    ? l10n.t('Adapter: {0}', name)
    : l10n.t('Artifact of the unknown kind “{0}”: {1}', wholeText(type), name);
}

/**
 * Whether there is something to download, and until when.
 * @param status as the service's list spells it
 */
export function artifactsText(
  kind: 'not-yet' | 'not-known' | 'available' | 'expired' | 'not-told',
  expiresAtMs: number | undefined,
  status: string,
): string {
  const { l10n } = vscode;
  switch (kind) {
    case 'not-yet':
      return l10n.t('There is an adapter once the run has completed.');
    case 'not-known':
      // The contract does not name it: whether it is final is not known.
      return wholeText(status) === ''
        ? l10n.t('The status of this run is unknown. If it completes, its adapter can be downloaded here.')
        : l10n.t(
            'The service calls this run “{0}”. If it completes, its adapter can be downloaded here.',
            wholeText(status),
          );
    case 'available':
      return expiresAtMs === undefined
        ? l10n.t('The adapter is available. The service does not tell until when.')
        : l10n.t('The adapter is available until {0}.', formatTime(expiresAtMs));
    case 'expired':
      return expiresAtMs === undefined
        ? l10n.t('The adapter has expired: the service keeps it no more.')
        : l10n.t('The adapter expired on {0}: the service keeps it no more.', formatTime(expiresAtMs));
    case 'not-told':
      return l10n.t('The service does not say that an adapter is available.');
  }
}

interface DownloadView {
  state: 'waiting' | 'downloading' | 'verifying' | 'interrupted';
  receivedBytes: number;
  totalBytes?: number | undefined;
  target: string;
}

/** How far a download is. */
export function activeDownloadText({ state, receivedBytes, totalBytes, target }: DownloadView): string {
  const { l10n } = vscode;
  const amount =
    totalBytes === undefined
      ? formatBytes(receivedBytes)
      : l10n.t('{0} of {1}', formatBytes(receivedBytes), formatBytes(totalBytes));
  switch (state) {
    case 'waiting':
      return l10n.t('Waiting for the service. To {0}', target);
    case 'downloading':
      return l10n.t('{0}. To {1}', amount, target);
    case 'verifying':
      return l10n.t('{0} came and are being verified. To {1}', formatBytes(receivedBytes), target);
    case 'interrupted':
      return l10n.t('Interrupted at {0}. To {1}', amount, target);
  }
}

export const downloadWords = {
  /** The words of a button, and what it is about: what is read is said, too. */
  about: (words: string, name: string) => vscode.l10n.t('{0}: {1}', words, name),
  cancel: () => vscode.l10n.t('Cancel'),
  discard: () => vscode.l10n.t('Discard'),
  goOn: () => vscode.l10n.t('Continue Download…'),
  again: () => vscode.l10n.t('Download Again…'),
  reveal: (isInOs: boolean) =>
    isInOs ? vscode.l10n.t('Show in File Manager') : vscode.l10n.t('Show in Explorer'),
  copyPath: () => vscode.l10n.t('Copy Path'),
  copyDigest: () => vscode.l10n.t('Copy SHA-256'),
};

interface FileView {
  sizeBytes: number;
  sha256: string;
  verified: 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'length' | 'html' | 'damaged';
  completedAtMs: number;
  isGone: boolean;
}

/** What is known of a file that came home. */
export function fileLines({ sizeBytes, sha256, verified, completedAtMs, isGone }: FileView): string[] {
  const { l10n } = vscode;
  return [
    ...(isGone ? [l10n.t('The file is not there any more.')] : []),
    l10n.t('{0}, downloaded {1}', formatBytes(sizeBytes), formatTime(completedAtMs)),
    verifiedText(verified),
    l10n.t('SHA-256 as downloaded: {0}. The service tells none to compare it with.', sha256),
  ];
}

/** "Verified" is what the contract allows: it has no digest, so that length and the archive's own checks are all there is. */
function verifiedText(verified: FileView['verified']): string {
  const { l10n } = vscode;
  switch (verified) {
    case 'zip':
      return l10n.t(
        'Verified: it has its full length, and the checksum of each file in the ZIP archive is right.',
      );
    case 'gzip':
      return l10n.t('Verified: it has its full length, and its gzip checksum is right.');
    case 'tar':
      return l10n.t(
        'Verified: it has its full length, and the checksum of each header in the tar archive is right.',
      );
    case 'safetensors':
      return l10n.t('Verified: it has its full length, and the lengths in its safetensors header fit.');
    case 'unread':
      return l10n.t('Its size is right, but its contents couldn’t be checked.');
    case 'length':
      return l10n.t('Verified by its length alone: this kind of file has no checks of its own.');
    case 'html':
      return l10n.t('This is a web page, not an adapter. Only its size could be verified.');
    case 'damaged':
      return l10n.t('Its size is right, but its archive looks damaged.');
  }
}
