import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import type { AccountsUnreadableError } from '../../core/accounts/accountStore.ts';
import {
  isWithoutTls,
  ServiceError,
  UnexpectedResponseError,
  type DatasetChangedError,
  type DownloadLinkError,
  type NetworkError,
  type NetworkErrorReason,
  type SignedUrlRefusedError,
} from '../../core/api/errors.ts';
import { DiskError } from '../../core/base/diskError.ts';
import { ExpectedError } from '../../core/base/errors.ts';
import { formatDuration } from './format.ts';
import { COMMANDS, type CommandId } from './ids.ts';
import { notify, showError } from './notifications.ts';
import { revealOf } from './open.ts';
import { sanitizeText } from './serviceText.ts';
import { TERMS } from './terms.ts';

/** The button of an error. It runs a command, or with `again` repeats the failed operation from the start. */
interface Action {
  title: string;
  command: CommandId | 'again';
}

/** An error as shown to the user. */
export interface Explanation {
  sentence: string;
  action: Action;
  /** The service's message: plain text, truncated by the client; shown after the sentence, never instead of it. */
  serviceMessage?: string;
}

/** Returns the sentence and the button for an error. */
export function explain(error: unknown): Explanation {
  const serviceMessage = error instanceof ServiceError ? error.serviceMessage : '';
  const [sentence, action = SHOW_LOG] = ERRORS.get(codeOf(error)) ?? [otherSentence];
  return {
    sentence: typeof sentence === 'string' ? sentence : sentence(error as never),
    action,
    ...(serviceMessage !== '' && { serviceMessage }),
  };
}

/** Combines the sentence with the service's message, sanitized for display. */
export function asText({ sentence, serviceMessage }: Explanation): string {
  return sanitizeText(
    serviceMessage === undefined ? sentence : l10n.t('{0} The service says: “{1}”', sentence, serviceMessage),
  );
}

/** Shows an error with its button and one for the folder of a file that it names; `again` retries. */
export function notifyFailed(error: unknown, again: () => void): void {
  const explanation = explain(error);
  const buttons = { [explanation.action.title]: () => act(explanation.action, again) };
  if (error instanceof ExpectedError && 'file' in error && typeof error.file === 'string') {
    const { title, show } = revealOf(Uri.file(error.file));
    buttons[title] = show;
  }
  notify(showError, asText(explanation), buttons);
}

/** Runs the action of a button; `again` repeats the failed operation. */
export function act({ command }: Action, again: () => void): void {
  if (command === 'again') again();
  else void commands.executeCommand(command);
}

const UNAVAILABLE: readonly number[] = [502, 503, 504];

/** Returns the code under which the table lists an error; empty for codes outside the contract. */
function codeOf(error: unknown): string {
  // A code outside the contract may equal one of the extension's.
  if (error instanceof ServiceError && !error.isKnown)
    return error.code === 'unavailable' || UNAVAILABLE.includes(error.httpStatus) ? 'unavailable' : '';
  // Only the status identifies a proxy or gateway that answers in place of the service.
  if (error instanceof UnexpectedResponseError && error.kind === 'no-error-body') {
    if (error.httpStatus === 429) return 'rate_limited';
    if (UNAVAILABLE.includes(error.httpStatus)) return 'unavailable';
  }
  if (error instanceof DiskError) return error.place;
  return error instanceof ExpectedError ? error.code : '';
}

const button = (title: string, command: Action['command']): Action => ({ title, command });
const RETRY = button(TERMS.retry, 'again');
const SUBMIT_AGAIN = button(TERMS.submitAgain, 'again');
const DOWNLOAD_AGAIN = button(TERMS.downloadAgain, 'again');
// Repeating the operation asks for the folder again.
const CHOOSE_FOLDER = button(l10n.t('Choose Another Folder…'), 'again');
const REFRESH_RUNS = button(l10n.t('Refresh Runs'), COMMANDS.refresh);
const REFRESH_BALANCE = button(TERMS.refreshBalance, COMMANDS.refreshBalance);
const REPLACE_KEY = button(TERMS.replaceApiKey, COMMANDS.replaceKey);
const ENTER_KEY = button(TERMS.enterApiKey, COMMANDS.replaceKey);
const SHOW_LOG = button(TERMS.showLog, COMMANDS.showLog);

const KEY_REJECTED = l10n.t('The service rejected this API key.');
const TAKEN_OVER = l10n.t('Sending stopped. Another window may have taken over.');
const NOT_AVAILABLE = withWait(l10n.t('The service is unavailable.'));

/** The sentence, or a function of the error with that code; and the button, if it isn't the log's. */
type Row = readonly [sentence: string | ((error: never) => string), action?: Action];

const ERRORS: ReadonlyMap<string, Row> = new Map(
  Object.entries<Row>({
    // From the service (spec: "Errors"), or from a gateway that answers in its place
    invalid_api_key: [KEY_REJECTED, REPLACE_KEY],
    'key-rejected': [KEY_REJECTED, REPLACE_KEY],
    validation_failed: [l10n.t('The service rejected the request as invalid.')],
    not_found: [l10n.t('Not found, or expired.'), REFRESH_RUNS],
    insufficient_balance: [l10n.t('The balance is too low for this run. Add funds.'), REFRESH_BALANCE],
    model_not_available: [l10n.t('This model isn’t available. Choose another one.'), SUBMIT_AGAIN],
    consent_required: [l10n.t('The service didn’t receive both consents. Submit again.'), SUBMIT_AGAIN],
    idempotency_conflict: [
      l10n.t('This Idempotency-Key was already used for a different request.'),
      REFRESH_RUNS,
    ],
    rate_limited: [withWait(l10n.t('Too many requests.')), RETRY],
    unavailable: [NOT_AVAILABLE, RETRY],
    'unexpected-response': [unexpectedSentence],
    network: [networkSentence, RETRY],

    // Accounts and the sandbox
    'accounts-unreadable': [
      ({ file }: AccountsUnreadableError) =>
        l10n.t('Your accounts can’t be read from {0}. Check its permissions.', path.basename(file)),
      RETRY,
    ],
    'accounts-later-version': [l10n.t('A newer version saved your accounts. Update the extension.')],
    'key-missing': [
      l10n.t('The API key isn’t on this machine. If you entered it in another window, reload this one.'),
      ENTER_KEY,
    ],
    'sandbox-not-started': [l10n.t('The sandbox couldn’t be started.')],

    // Submissions
    'dataset-changed': [changedSentence, SUBMIT_AGAIN],
    submissions: [({ code }: DiskError) => DISK.submissions[code]],
    'not-owner': [TAKEN_OVER],
    'lease-lost': [TAKEN_OVER],
    'not-answered': [l10n.t('The service didn’t say whether you were charged.'), RETRY],
    taken: [l10n.t('The same dataset was submitted in another window in the meantime.'), SUBMIT_AGAIN],
    'key-replaced': [l10n.t('Can’t resend because the submission was first sent with a different API key.')],
    'too-early': [NOT_AVAILABLE],
    'too-late': [l10n.t('Can’t resend after 23 hours because you could be charged twice.')],
    'clocks-disagree': [l10n.t('Can’t send safely because the submission’s age is uncertain.')],
    candidates: [l10n.t('A matching run has appeared. Confirm whether it’s yours before resending.')],

    // Downloads
    folder: [({ code }: DiskError) => DISK.folder[code], CHOOSE_FOLDER],
    storage: [downloadLinkSentence, DOWNLOAD_AGAIN],
    'signed-url-refused': [
      ({ httpStatus }: SignedUrlRefusedError) =>
        l10n.t('The download server returned an error ({0}).', httpStatus),
      DOWNLOAD_AGAIN,
    ],
    'run-not-completed': [l10n.t('This run has no adapter yet.'), REFRESH_RUNS],
    'artifacts-expired': [l10n.t('This adapter has expired.'), REFRESH_RUNS],
    'run-unknown': [l10n.t('The service doesn’t recognize this run. Try another account.'), REFRESH_RUNS],
    'no-artifacts': [l10n.t('The service lists no files for this run.'), REFRESH_RUNS],
    'artifact-gone': [l10n.t('The service no longer offers this file.'), DOWNLOAD_AGAIN],
    'lease-unavailable': [l10n.t('Can’t download because the extension’s folder can’t be locked.')],
    'download-busy': [l10n.t('Another window is already downloading this.')],
    'download-gone': [l10n.t('Another window finished or discarded this download.'), DOWNLOAD_AGAIN],
    'download-empty': [l10n.t('The downloaded file was empty and was deleted.'), RETRY],
    'length-unknown': [
      l10n.t('The download was deleted because its size wasn’t provided and it couldn’t be verified.'),
      DOWNLOAD_AGAIN,
    ],
    'file-exists': [
      l10n.t('A file with that name was created in the meantime and wasn’t overwritten.'),
      DOWNLOAD_AGAIN,
    ],
  }),
);

function otherSentence(error: unknown): string {
  if (error instanceof ServiceError)
    return l10n.t('Service error “{0}” ({1}).', error.code, error.httpStatus);
  if (error instanceof ExpectedError) return l10n.t('Unexpected error ({0}).', error.code);
  return l10n.t('Unexpected error in the extension.');
}

/** Adds when to try again. */
function withWait(sentence: string): (error: { retryAfterMs?: number | undefined }) => string {
  return ({ retryAfterMs: ms }) => {
    const when = ms === undefined ? l10n.t('Try again later.') : l10n.t('Try again in {0}.', waitText(ms));
    return `${sentence} ${when}`;
  };
}

/** Rounds up: a request that comes too early is refused again. */
function waitText(ms: number): string {
  const unitMs = ms > 60_000 ? 60_000 : 1_000;
  return formatDuration(Math.ceil(ms / unitMs) * unitMs);
}

const UNREACHABLE = l10n.t('Can’t reach the service. Check its URL and your connection.');

/** For any other reason, the connection was lost. */
const NETWORK: Readonly<Partial<Record<NetworkErrorReason, string>>> = {
  refused: UNREACHABLE,
  dns: UNREACHABLE,
  'connect-timeout': UNREACHABLE,
  'answer-timeout': l10n.t('The service didn’t respond in time.'),
  tls: l10n.t('The server’s certificate isn’t trusted. Behind a company proxy, install its certificate.'),
  proxy: l10n.t('The proxy blocked the request. Check “http.proxy” and its password.'),
};

function networkSentence(error: NetworkError): string {
  if (isWithoutTls(error)) return l10n.t('No HTTPS server responded at this address. Check the service URL.');
  return NETWORK[error.reason] ?? l10n.t('The connection to the service was lost.');
}

const RECORDS_FAILED = l10n.t('The submission records can’t be read or written.');

/** For the folder that the user chose, and for the extension's submission records. */
const DISK: Readonly<Record<DiskError['place'], Readonly<Record<DiskError['code'], string>>>> = {
  folder: {
    'disk-full': l10n.t('That folder’s disk is full.'),
    'no-permission': l10n.t('No permission to write to that folder.'),
    'folder-missing': l10n.t('That folder no longer exists.'),
    'name-too-long': l10n.t('That file name is too long.'),
    disk: l10n.t('Writing to that folder failed.'),
  },
  submissions: {
    'disk-full': l10n.t('The disk is full, so submissions can’t be recorded.'),
    'no-permission': l10n.t('No permission to write the submission records.'),
    'folder-missing': RECORDS_FAILED,
    'name-too-long': RECORDS_FAILED,
    disk: RECORDS_FAILED,
  },
};

function unexpectedSentence({ kind, httpStatus }: UnexpectedResponseError): string {
  if (kind === 'html')
    return l10n.t(
      'Got a web page ({0}), not the API. Check the service URL, or sign in to your network.',
      httpStatus,
    );
  if (kind === 'no-error-body' && httpStatus === 413)
    return l10n.t('A proxy or gateway rejected the upload as too large (413).');
  if (kind === 'no-error-body' && httpStatus === 422)
    return l10n.t('The request was rejected without a reason (422).');
  return l10n.t('The response isn’t from this service ({0}). Check the service URL.', httpStatus);
}

/** Why the server of a download link did not send the file. The service is not involved. */
function downloadLinkSentence({ failure }: DownloadLinkError): string {
  if (failure instanceof UnexpectedResponseError) {
    if (failure.kind === 'unsafe-link')
      return l10n.t('The download link is unsafe (it doesn’t use HTTPS, or it points inside your network).');
    if (failure.kind === 'compressed')
      return l10n.t('The download server compressed the file, so it couldn’t be verified.');
    return l10n.t('The download link doesn’t lead to the file ({0}).', failure.httpStatus);
  }
  const { causeCode, reason } = failure;
  if (causeCode === 'ERR_TOO_SHORT' || causeCode === 'ERR_TOO_LONG')
    return l10n.t('The downloaded file isn’t the expected size.');
  if (NETWORK[reason] === UNREACHABLE)
    return l10n.t('The download server can’t be reached. Check your connection.');
  if (reason === 'tls' || reason === 'proxy') return NETWORK[reason] ?? '';
  return l10n.t('The connection to the download server was lost.');
}

function changedSentence({ change, causeCode }: DatasetChangedError): string {
  if (change !== 'unreadable') return l10n.t('The file has changed since it was chosen.');
  return causeCode === 'ENOENT' ? l10n.t('The file no longer exists.') : l10n.t('The file couldn’t be read.');
}
