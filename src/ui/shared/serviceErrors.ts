import path from 'node:path';
import * as vscode from 'vscode';
import {
  DatasetChangedError,
  DownloadLinkError,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../../core/api/errors.ts';
import { DiskError } from '../../core/base/diskError.ts';
import { ExpectedError } from '../../core/base/errors.ts';
import { formatDuration, formatTime } from './format.ts';
import { COMMANDS, type CommandId } from './ids.ts';
import { showError, showWarning } from './notifications.ts';
import { sanitizeText } from './serviceText.ts';

/** What the button of an error does: a command, or `again`, what failed from its first question on. */
interface Action {
  title: string;
  command: CommandId | 'again';
}

/** What the user reads of an error. */
export interface Explanation {
  sentence: string;
  action: Action;
  /** The service's own words: plain text, cut by the client; shown beside the sentence, never instead of it. */
  serviceMessage?: string;
}

/** Turns each error into a sentence and a button. */
export function explain(error: unknown): Explanation {
  if (error instanceof ServiceError) {
    const explanation = explainService(error);
    const { serviceMessage } = error;
    return serviceMessage === '' ? explanation : { ...explanation, serviceMessage };
  }
  if (error instanceof NetworkError) return { sentence: networkSentence(error), action: actions.retry() };
  if (error instanceof UnexpectedAnswerError) return explainUnexpected(error);
  if (error instanceof SignedUrlRefusedError)
    return { sentence: refusedLinkSentence(error), action: actions.downloadAgain() };
  if (error instanceof DownloadLinkError)
    return { sentence: downloadLinkSentence(error), action: actions.downloadAgain() };
  if (error instanceof DatasetChangedError)
    return { sentence: changedSentence(error), action: actions.submitAgain() };
  if (error instanceof DiskError)
    return error.place === 'submissions'
      ? { sentence: recordsSentence(error), action: actions.showLog() }
      : { sentence: folderSentence(error), action: actions.chooseFolder() };
  if (error instanceof ExpectedError) return explainCode(error);
  return {
    sentence: vscode.l10n.t('Something went wrong inside the extension.'),
    action: actions.showLog(),
  };
}

/** Sentence and service's words as one text, which may stand anywhere on the screen. */
export function asText({ sentence, serviceMessage }: Explanation): string {
  return sanitizeText(
    serviceMessage === undefined
      ? sentence
      : vscode.l10n.t('{0} The service says: “{1}”', sentence, serviceMessage),
  );
}

/** Shows an error with its button. @param again does again what failed */
export async function notifyFailed(error: unknown, again: () => void): Promise<void> {
  const explanation = explain(error);
  const { action } = explanation;
  if ((await showError(asText(explanation), action.title)) !== undefined) act(action, again);
}

/** Reports that the file of lists and downloads was damaged. */
export function notifyStateSetAside(file: string): void {
  void showWarning(
    vscode.l10n.t(
      'The stored run lists and download history were damaged and moved to {0}. Downloaded files are not affected.',
      file,
    ),
  );
}

/** Does what an action's button says. @param again does again what failed */
export function act({ command }: Action, again: () => void): void {
  if (command === 'again') again();
  else void vscode.commands.executeCommand(command);
}

const actions = {
  retry: (): Action => ({ title: vscode.l10n.t('Retry'), command: 'again' }),
  submitAgain: (): Action => ({ title: vscode.l10n.t('Submit Again…'), command: 'again' }),
  downloadAgain: (): Action => ({ title: vscode.l10n.t('Download Again…'), command: 'again' }),
  /** What failed asks for the folder again. */
  chooseFolder: (): Action => ({ title: vscode.l10n.t('Choose Another Folder…'), command: 'again' }),
  refreshRuns: (): Action => ({ title: vscode.l10n.t('Refresh Runs'), command: COMMANDS.refresh }),
  refreshBalance: (): Action => ({
    title: vscode.l10n.t('Refresh Balance'),
    command: COMMANDS.refreshBalance,
  }),
  replaceKey: (): Action => ({ title: vscode.l10n.t('Replace API Key…'), command: COMMANDS.replaceKey }),
  enterKey: (): Action => ({ title: vscode.l10n.t('Enter API Key…'), command: COMMANDS.replaceKey }),
  showLog: (): Action => ({ title: vscode.l10n.t('Show Log'), command: COMMANDS.showLog }),
};

const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

function explainService({ code, httpStatus, retryAfterMs }: ServiceError): Explanation {
  const { l10n } = vscode;
  switch (code) {
    case 'invalid_api_key':
      return { sentence: rejectedKeySentence(), action: actions.replaceKey() };
    case 'rate_limited':
      return { sentence: rateLimitedSentence(retryAfterMs), action: actions.retry() };
    case 'validation_failed':
      return { sentence: l10n.t('The service rejected the request as invalid.'), action: actions.showLog() };
    case 'not_found':
      return {
        sentence: l10n.t('The service can’t find this: it is unknown, unfinished or expired.'),
        action: actions.refreshRuns(),
      };
    case 'insufficient_balance':
      return {
        sentence: l10n.t(
          'The balance is too low for this run. Add funds in the service’s dashboard, then continue.',
        ),
        action: actions.refreshBalance(),
      };
    case 'model_not_available':
      return {
        sentence: l10n.t('The model is currently not available. Choose another one.'),
        action: actions.submitAgain(),
      };
    case 'consent_required':
      return {
        sentence: l10n.t('The service did not receive both consents.'),
        action: actions.submitAgain(),
      };
    case 'idempotency_conflict':
      return {
        sentence: l10n.t('This Idempotency-Key was already used for a different request.'),
        action: actions.refreshRuns(),
      };
  }
  if (code === 'unavailable' || UNAVAILABLE.has(httpStatus))
    return { sentence: unavailableSentence(retryAfterMs), action: actions.retry() };
  return {
    sentence: l10n.t('The service answered with the error “{0}” ({1}).', code, httpStatus),
    action: actions.showLog(),
  };
}

/** Errors that a code alone describes. */
function explainCode(error: ExpectedError): Explanation {
  const { l10n } = vscode;
  const say = (sentence: string, action: Action): Explanation => ({ sentence, action });
  switch (error.code) {
    // Accounts and the sandbox
    case 'key-rejected':
      return say(rejectedKeySentence(), actions.replaceKey());
    case 'key-missing':
      return say(
        l10n.t(
          'The API key of this account is not on this machine. If you just entered it in another window, reload this one.',
        ),
        actions.enterKey(),
      );
    case 'accounts-unreadable':
      return say(
        l10n.t('Your accounts can’t be read from {0}. Check the file and its permissions.', fileOf(error)),
        actions.retry(),
      );
    case 'sandbox-not-started':
      return say(l10n.t('The sandbox could not be started. See the log for details.'), actions.showLog());

    // Submissions
    case 'lease-unavailable':
      return say(
        l10n.t(
          'The extension’s folder can’t be locked. Without a lock, two windows could submit the same dataset twice.',
        ),
        actions.showLog(),
      );
    case 'journal-busy':
      return say(
        l10n.t('Other windows are writing submission records. Try again in a moment.'),
        actions.showLog(),
      );
    case 'journal-unreadable':
      return say(
        'file' in error
          ? l10n.t(
              'Can’t read the submission record {0}. Submitting now could charge you twice.',
              path.basename(fileOf(error)),
            )
          : l10n.t('Can’t read the submission records. Submitting now could charge you twice.'),
        actions.showLog(),
      );
    case 'later-version':
      return say(
        l10n.t(
          'A newer version of this extension has an open submission of the same dataset and model. Update the extension to continue it.',
        ),
        actions.showLog(),
      );
    case 'not-owner':
    case 'lease-lost':
      return say(
        l10n.t('Another window may have taken over this submission. This window stopped sending it.'),
        actions.showLog(),
      );
    case 'key-replaced':
      return say(
        l10n.t('Can’t resend: it was first sent with another API key, which may belong to another account.'),
        actions.showLog(),
      );
    case 'window-closed':
      return say(
        l10n.t(
          'Can’t resend: the first attempt was more than 23 hours ago, and the service only prevents double charges for 24 hours.',
        ),
        actions.showLog(),
      );
    case 'clocks-disagree':
      return say(
        l10n.t('Can’t resend safely: the time of the first attempt is uncertain (clock change or sleep).'),
        actions.showLog(),
      );
    case 'candidates':
      return say(
        l10n.t('A matching run has appeared. Confirm whether it’s yours before resending.'),
        actions.showLog(),
      );
    case 'too-early':
      return say(
        'retryAfterMs' in error && typeof error.retryAfterMs === 'number'
          ? l10n.t('The service asked to wait. Try again in {0}.', waitText(error.retryAfterMs))
          : l10n.t('The service asked to wait. Try again later.'),
        actions.showLog(),
      );
    case 'digest-failed':
      return say(
        l10n.t('Couldn’t verify that the dataset is unchanged. See the log for details.'),
        actions.showLog(),
      );

    // Downloads
    case 'run-not-completed':
      return say(l10n.t('This run is not finished yet, so it has no adapter.'), actions.refreshRuns());
    case 'artifacts-expired':
      return say(
        'expiredAt' in error && typeof error.expiredAt === 'string'
          ? l10n.t(
              'This adapter expired on {0}. To get it again, start a new run.',
              formatTime(error.expiredAt),
            )
          : l10n.t('This adapter has expired. To get it again, start a new run.'),
        actions.refreshRuns(),
      );
    case 'run-unknown':
      return say(
        l10n.t('The service does not know this run. It may belong to another account, or have expired.'),
        actions.refreshRuns(),
      );
    case 'no-artifacts':
      return say(l10n.t('The service lists no files for this run.'), actions.refreshRuns());
    case 'artifact-gone':
      return say(l10n.t('The service no longer offers this file.'), actions.downloadAgain());
    case 'download-busy':
      return say(l10n.t('Another window is already downloading this to the same place.'), actions.showLog());
    case 'download-gone':
      return say(
        l10n.t('There is nothing left to resume: another window finished or discarded this download.'),
        actions.downloadAgain(),
      );
    case 'download-empty':
      return say(l10n.t('The downloaded file is empty. It was deleted.'), actions.retry());
    case 'length-unknown':
      return say(
        l10n.t(
          'The server didn’t report the file size, so the download couldn’t be verified. It was deleted.',
        ),
        actions.downloadAgain(),
      );
    case 'file-exists':
      return say(
        l10n.t('A file of that name appeared during the download and was not overwritten.'),
        actions.downloadAgain(),
      );
    default:
      return say(l10n.t('Something went wrong ({0}).', error.code), actions.showLog());
  }
}

function fileOf(error: Error): string {
  return 'file' in error ? String(error.file) : '';
}

function rejectedKeySentence(): string {
  return vscode.l10n.t('The service rejected this API key.');
}

function rateLimitedSentence(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? vscode.l10n.t('Too many requests. Wait a moment, then try again.')
    : vscode.l10n.t('Too many requests. Try again in {0}.', waitText(retryAfterMs));
}

function unavailableSentence(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? vscode.l10n.t('The service is unavailable. Try again later.')
    : vscode.l10n.t('The service is unavailable. Try again in {0}.', waitText(retryAfterMs));
}

/** Rounded up: a request that comes too early is refused again. */
function waitText(ms: number): string {
  const unitMs = ms > 60_000 ? 60_000 : 1_000;
  return formatDuration(Math.ceil(ms / unitMs) * unitMs);
}

function networkSentence({ reason }: NetworkError): string {
  const { l10n } = vscode;
  switch (reason) {
    case 'refused':
      return l10n.t('Nothing answers at the service URL. Check the URL and your connection.');
    case 'dns':
      return l10n.t('The host of the service URL cannot be found. Check the URL and your connection.');
    case 'tls':
      return l10n.t(
        'The service’s certificate is not trusted. Behind a company proxy, install its certificate.',
      );
    case 'proxy':
      return l10n.t('The proxy blocked the request. Check the “http.proxy” settings and its password.');
    case 'connect-timeout':
      return l10n.t('The service could not be reached in time.');
    case 'answer-timeout':
      return l10n.t('The service did not answer in time.');
    case 'stalled':
      return l10n.t('The connection stalled and was closed.');
    default:
      return l10n.t('The connection to the service was lost.');
  }
}

/** A proxy or gateway that answers in place of the service is known by its status alone. */
function explainUnexpected({ kind, httpStatus, retryAfterMs }: UnexpectedAnswerError): Explanation {
  const { l10n } = vscode;
  if (kind === 'no-error-body') {
    if (UNAVAILABLE.has(httpStatus))
      return { sentence: unavailableSentence(retryAfterMs), action: actions.retry() };
    if (httpStatus === 429) return { sentence: rateLimitedSentence(retryAfterMs), action: actions.retry() };
  }
  const sentence = () => {
    if (kind === 'redirect')
      return l10n.t('The service redirected to another address ({0}). Check the service URL.', httpStatus);
    if (kind === 'html')
      return l10n.t(
        'A web page answered instead of the service ({0}), such as a network’s sign-in page.',
        httpStatus,
      );
    if (kind === 'no-error-body' && httpStatus === 413)
      return l10n.t('A proxy or gateway rejected the upload as too large (413).');
    if (kind === 'no-error-body' && httpStatus === 422)
      return l10n.t('The request was rejected (422) without the service’s usual error message.');
    return l10n.t('The answer is not from this service ({0}). Check the service URL.', httpStatus);
  };
  return { sentence: sentence(), action: actions.showLog() };
}

/** Why the server behind a download link did not send the file; the service has no part in it. */
function downloadLinkSentence({ failure }: DownloadLinkError): string {
  const { l10n } = vscode;
  if (failure instanceof UnexpectedAnswerError) {
    if (failure.kind === 'unsafe-link')
      return l10n.t(
        'The service provided an unsafe download link: it isn’t https, or points to this machine or its network. It was not opened.',
      );
    return failure.kind === 'redirect'
      ? l10n.t('The download link redirects too often or to an unsafe address ({0}).', failure.httpStatus)
      : l10n.t(
          'The download link returned something other than the file ({0}). Try again later.',
          failure.httpStatus,
        );
  }
  if (failure.causeCode === 'ERR_TOO_SHORT')
    return l10n.t('The download link keeps ending the file too early. Try again later.');
  if (failure.causeCode === 'ERR_TOO_LONG')
    return l10n.t('The download link keeps sending more than the announced file size. Try again later.');
  switch (failure.reason) {
    case 'refused':
    case 'dns':
    case 'connect-timeout':
      return l10n.t('The server of the download link can’t be reached. Check your connection.');
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

/** 400, 401, 403, 404 and 410 are what storages answer to a signed URL that expired. */
function refusedLinkSentence({ httpStatus }: SignedUrlRefusedError): string {
  return [400, 401, 403, 404, 410].includes(httpStatus)
    ? vscode.l10n.t('The server rejected every download link ({0}). Try again later.', httpStatus)
    : vscode.l10n.t('The download server returned an error ({0}). Try again later.', httpStatus);
}

function changedSentence({ change, causeCode }: DatasetChangedError): string {
  const { l10n } = vscode;
  switch (change) {
    case 'grew':
      return l10n.t('The file has grown since it was chosen.');
    case 'shrank':
      return l10n.t('The file has become shorter since it was chosen.');
    case 'changed':
      return l10n.t('The file has changed since it was chosen.');
    case 'unreadable':
      return causeCode === 'ENOENT'
        ? l10n.t('The file no longer exists.')
        : l10n.t('The file could not be read to its end.');
  }
}

/** What keeps the extension from its records of submissions. */
function recordsSentence({ code }: DiskError): string {
  const { l10n } = vscode;
  switch (code) {
    case 'disk-full':
      return l10n.t('The disk is full: submissions can’t be recorded.');
    case 'no-permission':
      return l10n.t('The extension has no permission to write its submission records.');
    default:
      return l10n.t('The submission records could not be read or written. See the log for details.');
  }
}

/** What is wrong with a folder that the user chose. */
function folderSentence({ code }: DiskError): string {
  const { l10n } = vscode;
  switch (code) {
    case 'disk-full':
      return l10n.t('There is no space left in that folder. Partial files were removed.');
    case 'no-permission':
      return l10n.t('You don’t have permission to write to that folder.');
    case 'folder-missing':
      return l10n.t('That folder no longer exists.');
    default:
      return l10n.t('Writing to that folder failed. Partial files were removed.');
  }
}
