import * as vscode from 'vscode';
import type { NetworkError, UnexpectedAnswerError } from '../../core/api/errors.ts';
import { formatTime } from './format.ts';

/** Why a download failed, and what helps: the same again, the list of runs, or the log. */
interface DownloadFailure {
  sentence: string;
  remedy: 'again' | 'retry' | 'runs' | 'log';
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
    case 'download-empty':
      return {
        sentence: l10n.t('The downloaded file is empty. It was deleted.'),
        remedy: 'retry',
      };
    case 'length-unknown':
      return {
        sentence: l10n.t(
          'The server didn’t report the file size, so the download couldn’t be verified. It was deleted.',
        ),
        remedy: 'again',
      };
    case 'file-exists':
      return {
        sentence: l10n.t('A file of that name appeared meanwhile; it was left as it is.'),
        remedy: 'again',
      };
    default:
      return undefined;
  }
}

/** Why the storage behind a download link did not give the file. The service, and its address, have no part in it. */
export function downloadLinkSentence(failure: NetworkError | UnexpectedAnswerError): string {
  const { l10n } = vscode;
  if (failure.code === 'unexpected-answer')
    switch (failure.kind) {
      case 'unsafe-link':
        return l10n.t(
          'The service provided an unsafe download link: it isn’t https, or points to this machine or its network. It was not opened.',
        );
      case 'redirect':
        return l10n.t(
          'The download link redirects too often or to an unsafe address ({0}).',
          failure.httpStatus,
        );
      default:
        return l10n.t(
          'The download link returned something other than the file ({0}). Try again later.',
          failure.httpStatus,
        );
    }
  switch (failure.causeCode) {
    case 'ERR_TOO_SHORT':
      return l10n.t('The download link keeps ending the file too early. Try again later.');
    case 'ERR_TOO_LONG':
      return l10n.t('The download link keeps sending more than the announced file size. Try again later.');
  }
  switch (failure.reason) {
    case 'refused':
    case 'dns':
    case 'connect-timeout':
      return l10n.t('The server of the download link can’t be reached. Check whether you are online.');
    case 'tls':
      return l10n.t(
        'The certificate of the download link’s server is not trusted. Behind a company proxy, install its certificate.',
      );
    case 'proxy':
      return l10n.t('The proxy blocked the download link. Check the “http.proxy” settings and its password.');
    default:
      return l10n.t('The connection to the download link’s server was lost.');
  }
}

/** The storage refused fresh signed URLs: 403, 404 and 410 are what it answers to one whose time is over. */
export function refusedLinkSentence(httpStatus: number): string {
  return [400, 401, 403, 404, 410].includes(httpStatus)
    ? vscode.l10n.t('The server rejected every download link ({0}). Try again later.', httpStatus)
    : vscode.l10n.t('The download server returned an error ({0}). Try again later.', httpStatus);
}

function expiredSentence(error: Error): string {
  return 'expiredAt' in error && typeof error.expiredAt === 'string'
    ? vscode.l10n.t(
        'This adapter expired on {0}. To get it again, start a new run.',
        formatTime(error.expiredAt),
      )
    : vscode.l10n.t('This adapter has expired. To get it again, start a new run.');
}
