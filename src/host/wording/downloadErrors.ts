import * as vscode from 'vscode';
import { formatTime } from './format.ts';

/** Why a download did not come home, and what helps: the same once more, another folder, the list of runs, or the log. */
interface DownloadFailure {
  sentence: string;
  remedy: 'again' | 'folder' | 'runs' | 'log';
}

/** What ended a download, told apart; undefined for other codes. */
export function downloadFailure(code: string, error: Error): DownloadFailure | undefined {
  const { l10n } = vscode;
  switch (code) {
    case 'run-not-completed':
      return {
        sentence: l10n.t('This run has not finished yet. Its adapter can be downloaded when it has.'),
        remedy: 'runs',
      };
    case 'artifacts-expired':
      return { sentence: expiredSentence(error), remedy: 'runs' };
    case 'run-unknown':
      return {
        sentence: l10n.t(
          'The service does not know this run: it may be one of another account, or not be kept any more.',
        ),
        remedy: 'runs',
      };
    case 'no-artifacts':
      return { sentence: l10n.t('The service names no artifact for this run.'), remedy: 'runs' };
    case 'artifact-gone':
      return {
        sentence: l10n.t('The service does not offer this file any more. Look at what it offers now.'),
        remedy: 'again',
      };
    case 'download-busy':
      return { sentence: l10n.t('Another window downloads this to the same place already.'), remedy: 'log' };
    case 'download-gone':
      return {
        sentence: l10n.t('There is nothing left to resume: another window ended or discarded this download.'),
        remedy: 'again',
      };
    case 'download-broken':
      return {
        sentence: l10n.t(
          'What came is broken: the archive does not pass its own checks. It was not kept. Download it again; if it stays broken, the fault is in the storage.',
        ),
        remedy: 'again',
      };
    case 'length-unknown':
      return {
        sentence: l10n.t(
          'The storage did not tell where the file ends, so that nobody can say whether it is whole. It was not kept.',
        ),
        remedy: 'again',
      };
    case 'file-exists':
      return {
        sentence: l10n.t('A file of that name appeared meanwhile; it was left as it is.'),
        remedy: 'again',
      };
    case 'disk-full':
      return {
        sentence: l10n.t('There is no space left in that folder. Nothing half-done was kept.'),
        remedy: 'folder',
      };
    case 'no-permission':
      return { sentence: l10n.t('That folder may not be written to.'), remedy: 'folder' };
    case 'folder-missing':
      return { sentence: l10n.t('That folder is not there any more.'), remedy: 'folder' };
    case 'disk':
      return {
        sentence: l10n.t('Writing to that folder failed. Nothing half-done was kept.'),
        remedy: 'folder',
      };
    default:
      return undefined;
  }
}

/** What the network did to a download that the address of the service has no part in; undefined for the rest. */
export function lengthSentence(causeCode: string | undefined): string | undefined {
  switch (causeCode) {
    case 'ERR_TOO_SHORT':
      return vscode.l10n.t(
        'The storage ended the file before its announced length, again and again. What came is kept: resume later.',
      );
    case 'ERR_TOO_LONG':
      return vscode.l10n.t(
        'The storage sent more bytes than it had announced, again and again. Nothing of them was kept.',
      );
    default:
      return undefined;
  }
}

/** The storage refused fresh signed URLs: 403, 404 and 410 are what it answers to one whose time is over. */
export function refusedLinkSentence(httpStatus: number): string {
  return [400, 401, 403, 404, 410].includes(httpStatus)
    ? vscode.l10n.t(
        'The storage refused one fresh download link after the other ({0}). Try again later; the service still lists the file.',
        httpStatus,
      )
    : vscode.l10n.t('The storage did not give the file out ({0}). Try again later.', httpStatus);
}

function expiredSentence(error: Error): string {
  return 'expiredAt' in error && typeof error.expiredAt === 'string'
    ? vscode.l10n.t(
        'The service kept this adapter until {0}. It can be downloaded no more; only another run makes it anew.',
        formatTime(error.expiredAt),
      )
    : vscode.l10n.t(
        'The service does not keep this adapter any more. It can be downloaded no more; only another run makes it anew.',
      );
}
