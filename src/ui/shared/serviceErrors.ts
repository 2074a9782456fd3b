import path from 'node:path';
import { commands, l10n } from 'vscode';
import {
  DatasetChangedError,
  DownloadLinkError,
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
  type NetworkErrorReason,
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
  const serviceMessage = error instanceof ServiceError ? error.serviceMessage : '';
  const code = codeOf(error);
  const { title, command } = ACTIONS.find(({ codes }) => codes.includes(code)) ?? SHOW_LOG;
  return {
    sentence: sentenceFor(error, code),
    action: { title, command },
    ...(serviceMessage !== '' && { serviceMessage }),
  };
}

/** Sentence and service's words as one text, which may stand anywhere on the screen. */
export function asText({ sentence, serviceMessage }: Explanation): string {
  return sanitizeText(
    serviceMessage === undefined ? sentence : l10n.t('{0} The service says: “{1}”', sentence, serviceMessage),
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
    l10n.t(
      'The stored run lists and download history were damaged and moved to {0}. Downloaded files are not affected.',
      file,
    ),
  );
}

/** Does what an action's button says. @param again does again what failed */
export function act({ command }: Action, again: () => void): void {
  if (command === 'again') again();
  else void commands.executeCommand(command);
}

const SHOW_LOG: Readonly<Action> = { title: l10n.t('Show Log'), command: COMMANDS.showLog };

/** The buttons for codes; for all others it is the log's. */
const ACTIONS: readonly (Action & { codes: readonly string[] })[] = [
  {
    title: l10n.t('Retry'),
    command: 'again',
    codes: ['network', 'rate_limited', 'unavailable', 'accounts-unreadable', 'download-empty'],
  },
  {
    title: l10n.t('Submit Again…'),
    command: 'again',
    codes: ['dataset-changed', 'model_not_available', 'consent_required'],
  },
  {
    title: l10n.t('Download Again…'),
    command: 'again',
    codes: [
      'storage',
      'signed-url-refused',
      'artifact-gone',
      'download-gone',
      'length-unknown',
      'file-exists',
    ],
  },
  // What failed asks for the folder again.
  { title: l10n.t('Choose Another Folder…'), command: 'again', codes: ['folder'] },
  {
    title: l10n.t('Refresh Runs'),
    command: COMMANDS.refresh,
    codes: [
      ...['not_found', 'idempotency_conflict', 'run-not-completed', 'run-unknown'],
      ...['artifacts-expired', 'no-artifacts'],
    ],
  },
  { title: l10n.t('Refresh Balance'), command: COMMANDS.refreshBalance, codes: ['insufficient_balance'] },
  {
    title: l10n.t('Replace API Key…'),
    command: COMMANDS.replaceKey,
    codes: ['invalid_api_key', 'key-rejected'],
  },
  { title: l10n.t('Enter API Key…'), command: COMMANDS.replaceKey, codes: ['key-missing'] },
];

/** The code that the tables know; that of a service outside the contract may be equal to any, and is none of them. */
function codeOf(error: unknown): string {
  if (isLimited(error)) return 'rate_limited';
  if (isUnavailable(error)) return 'unavailable';
  if (error instanceof DiskError) return error.place;
  return error instanceof ExpectedError && !isForeign(error) ? error.code : '';
}

/** With a code outside the contract, which may be equal to one of the extension's own or to anything else. */
function isForeign(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !error.known;
}

const UNAVAILABLE: readonly number[] = [502, 503, 504];

type Answered = ServiceError | UnexpectedAnswerError;

function isLimited(error: unknown): error is Answered {
  return error instanceof ServiceError ? error.code === 'rate_limited' : isGateway(error, [429]);
}

function isUnavailable(error: unknown): error is Answered {
  if (!(error instanceof ServiceError)) return isGateway(error, UNAVAILABLE);
  return error.code === 'unavailable' || (isForeign(error) && UNAVAILABLE.includes(error.httpStatus));
}

/** A proxy or gateway that answers in place of the service is known by its status alone. */
function isGateway(error: unknown, statuses: readonly number[]): error is UnexpectedAnswerError {
  return (
    error instanceof UnexpectedAnswerError &&
    error.kind === 'no-error-body' &&
    statuses.includes(error.httpStatus)
  );
}

function sentenceFor(error: unknown, code: string): string {
  if (isLimited(error))
    return error.retryAfterMs === undefined
      ? l10n.t('Too many requests. Wait a moment, then try again.')
      : l10n.t('Too many requests. Try again in {0}.', waitText(error.retryAfterMs));
  if (isUnavailable(error))
    return error.retryAfterMs === undefined
      ? l10n.t('The service is unavailable. Try again later.')
      : l10n.t('The service is unavailable. Try again in {0}.', waitText(error.retryAfterMs));
  if (isForeign(error))
    return l10n.t('The service answered with the error “{0}” ({1}).', error.code, error.httpStatus);
  if (error instanceof NetworkError) return networkSentence(error);
  if (error instanceof UnexpectedAnswerError) return unexpectedSentence(error);
  if (error instanceof SignedUrlRefusedError) return refusedLinkSentence(error);
  if (error instanceof DownloadLinkError) return downloadLinkSentence(error);
  if (error instanceof DatasetChangedError) return changedSentence(error);
  if (error instanceof DiskError) return DISK[error.place][error.code];
  if (!(error instanceof ExpectedError)) return l10n.t('Something went wrong inside the extension.');
  const { file, expiredAt, retryAfterMs } = error as ErrorValues;
  if (code === 'accounts-unreadable')
    return l10n.t('Your accounts can’t be read from {0}. Check its permissions.', file ?? '');
  if (code === 'journal-unreadable' && file !== undefined)
    return l10n.t(
      'Can’t read the submission record {0}. Submitting now could charge you twice.',
      path.basename(file),
    );
  if (code === 'artifacts-expired' && expiredAt !== undefined)
    return l10n.t('This adapter expired on {0}. To get it again, start a new run.', formatTime(expiredAt));
  if (code === 'too-early' && retryAfterMs !== undefined)
    return l10n.t('The service asked you to wait. Try again in {0}.', waitText(retryAfterMs));
  return SENTENCES.get(code) ?? l10n.t('Something went wrong ({0}).', code);
}

/** Values of some of the errors. */
type ErrorValues = ExpectedError & { file?: string; expiredAt?: string; retryAfterMs?: number };

/** For errors that a code alone describes. */
const SENTENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // The service's (spec: "Errors")
    invalid_api_key: l10n.t('The service rejected this API key.'),
    'key-rejected': l10n.t('The service rejected this API key.'),
    validation_failed: l10n.t('The service rejected the request as invalid.'),
    not_found: l10n.t('The service can’t find this: it is unknown, unfinished or expired.'),
    insufficient_balance: l10n.t(
      'The balance is too low for this run. Add funds in the service’s dashboard.',
    ),
    model_not_available: l10n.t('This model isn’t available. Choose another one.'),
    consent_required: l10n.t('The service did not receive both consents.'),
    idempotency_conflict: l10n.t('This Idempotency-Key was already used for a different request.'),

    // Accounts and the sandbox
    'key-missing': l10n.t(
      'This account has no API key on this machine. If you entered it in another window, reload this one.',
    ),
    'sandbox-not-started': l10n.t('The sandbox could not be started.'),

    // Submissions
    'lease-unavailable': l10n.t(
      'Can’t lock the extension’s folder: two windows could submit the same dataset.',
    ),
    'journal-busy': l10n.t('Other windows are writing submission records. Try again in a moment.'),
    'journal-unreadable': l10n.t('Can’t read the submission records. Submitting now could charge you twice.'),
    'later-version': l10n.t(
      'A newer version of this extension has an open submission of this dataset and model. Update to continue it.',
    ),
    'not-owner': takenOver(),
    'lease-lost': takenOver(),
    'key-replaced': l10n.t(
      'Can’t resend: it was first sent with another API key, possibly of another account.',
    ),
    'window-closed': l10n.t(
      'Can’t resend: the first attempt was more than 23 hours ago, and the service only prevents double charges for 24 hours.',
    ),
    'clocks-disagree': l10n.t(
      'Can’t resend safely: the time of the first attempt is uncertain (clock change or sleep).',
    ),
    candidates: l10n.t('A matching run has appeared. Confirm whether it’s yours before resending.'),
    'too-early': l10n.t('The service asked you to wait. Try again later.'),
    'digest-failed': l10n.t('Couldn’t verify that the dataset is unchanged.'),

    // Downloads
    'run-not-completed': l10n.t('This run hasn’t finished, so it has no adapter.'),
    'artifacts-expired': l10n.t('This adapter has expired. To get it again, start a new run.'),
    'run-unknown': l10n.t(
      'The service doesn’t know this run. It may have expired or belong to another account.',
    ),
    'no-artifacts': l10n.t('The service lists no files for this run.'),
    'artifact-gone': l10n.t('The service no longer offers this file.'),
    'download-busy': l10n.t('Another window is already downloading this to the same place.'),
    'download-gone': l10n.t('Nothing to resume: another window finished or discarded this download.'),
    'download-empty': l10n.t('The downloaded file was empty and has been deleted.'),
    'length-unknown': l10n.t(
      'The download server didn’t report the file size, so the download couldn’t be verified. It was deleted.',
    ),
    'file-exists': l10n.t('A file of that name appeared during the download and was not overwritten.'),
  }),
);

function takenOver(): string {
  return l10n.t('Another window may have taken over this submission. This window stopped sending it.');
}

/** Rounded up: a request that comes too early is refused again. */
function waitText(ms: number): string {
  const unitMs = ms > 60_000 ? 60_000 : 1_000;
  return formatDuration(Math.ceil(ms / unitMs) * unitMs);
}

const NETWORK: Readonly<Partial<Record<NetworkErrorReason, string>>> = {
  refused: l10n.t('Nothing answers at the service URL. Check the URL and your connection.'),
  dns: l10n.t('Can’t find the host of the service URL. Check the URL and your connection.'),
  tls: l10n.t('The service’s certificate is not trusted. Behind a company proxy, install its certificate.'),
  proxy: l10n.t('The proxy blocked the request. Check the “http.proxy” settings and its password.'),
  'connect-timeout': l10n.t('The service could not be reached in time.'),
  'answer-timeout': l10n.t('The service did not answer in time.'),
  stalled: l10n.t('The connection stalled and was closed.'),
};

function networkSentence({ reason }: NetworkError): string {
  return NETWORK[reason] ?? l10n.t('The connection to the service was lost.');
}

/** Of the folder that the user chose, and of the extension's own with the submissions. */
const DISK: Readonly<Record<DiskError['place'], Readonly<Record<DiskError['code'], string>>>> = {
  folder: {
    'disk-full': l10n.t('That folder’s disk is full. Partial files were removed.'),
    'no-permission': l10n.t('You don’t have permission to write to that folder.'),
    'folder-missing': l10n.t('That folder no longer exists.'),
    disk: l10n.t('Writing to that folder failed. Partial files were removed.'),
  },
  submissions: {
    'disk-full': l10n.t('The disk is full: submissions can’t be recorded.'),
    'no-permission': l10n.t('No permission to write the submission records.'),
    'folder-missing': l10n.t('The submission records can’t be read or written.'),
    disk: l10n.t('The submission records can’t be read or written.'),
  },
};

function unexpectedSentence({ kind, httpStatus }: UnexpectedAnswerError): string {
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
    return l10n.t('The request was rejected without a reason (422).');
  return l10n.t('The response is not from this service ({0}). Check the service URL.', httpStatus);
}

/** Why the server behind a download link did not send the file; the service has no part in it. */
function downloadLinkSentence({ failure }: DownloadLinkError): string {
  if (failure instanceof UnexpectedAnswerError)
    switch (failure.kind) {
      case 'unsafe-link':
        return l10n.t('The download link is unsafe (not https, or inside your network) and was not opened.');
      case 'redirect':
        return l10n.t(
          'The download link redirects too often or to an unsafe address ({0}).',
          failure.httpStatus,
        );
      default:
        return l10n.t('The download link returned something other than the file ({0}).', failure.httpStatus);
    }
  if (failure.causeCode === 'ERR_TOO_SHORT')
    return l10n.t('The download server keeps ending the file too early.');
  if (failure.causeCode === 'ERR_TOO_LONG')
    return l10n.t('The download server sends more than the announced file size.');
  switch (failure.reason) {
    case 'refused':
    case 'dns':
    case 'connect-timeout':
      return l10n.t('The download server can’t be reached. Check your connection.');
    case 'tls':
      return l10n.t(
        'The download server’s certificate is not trusted. Behind a company proxy, install its certificate.',
      );
    case 'proxy':
      return networkSentence(failure);
    default:
      return l10n.t('The connection to the download server was lost.');
  }
}

/** 400, 401, 403, 404 and 410 are what storages answer to a signed URL that expired. */
function refusedLinkSentence({ httpStatus }: SignedUrlRefusedError): string {
  return [400, 401, 403, 404, 410].includes(httpStatus)
    ? l10n.t('The download server rejected every link ({0}). Try again later.', httpStatus)
    : l10n.t('The download server returned an error ({0}).', httpStatus);
}

function changedSentence({ change, causeCode }: DatasetChangedError): string {
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
