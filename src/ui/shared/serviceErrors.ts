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
import { formatDuration } from './format.ts';
import { COMMANDS, type CommandId } from './ids.ts';
import { showError } from './notifications.ts';
import { sanitizeText } from './serviceText.ts';
import { TERMS } from './termMessages.ts';

/** The button of an error: runs a command, or with `again` repeats the failed operation from its first question. */
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
  const code = codeOf(error);
  const { title, command } = ACTIONS.find(({ codes }) => codes.includes(code)) ?? SHOW_LOG;
  return {
    sentence: sentenceFor(error, code),
    action: { title, command },
    ...(serviceMessage !== '' && { serviceMessage }),
  };
}

/** Combines the sentence with the service's message, sanitized for display. */
export function asText({ sentence, serviceMessage }: Explanation): string {
  return sanitizeText(
    serviceMessage === undefined ? sentence : l10n.t('{0} The service says: “{1}”', sentence, serviceMessage),
  );
}

/** Whether the service reports that the account has no such run (spec: "GET /api/v1/runs/{run_id}"). */
export function isNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.httpStatus === 404;
}

/** Shows an error with its button; `again` repeats the failed operation. */
export async function notifyFailed(error: unknown, again: () => void): Promise<void> {
  const explanation = explain(error);
  const { action } = explanation;
  if ((await showError(asText(explanation), action.title)) !== undefined) act(action, again);
}

/** Runs the action of a button; `again` repeats the failed operation. */
export function act({ command }: Action, again: () => void): void {
  if (command === 'again') again();
  else void commands.executeCommand(command);
}

const SHOW_LOG: Readonly<Action> = { title: TERMS.showLog, command: COMMANDS.showLog };

/** The buttons by error code; all other codes get the log's. */
const ACTIONS: readonly (Action & { codes: readonly string[] })[] = [
  {
    title: TERMS.retry,
    command: 'again',
    codes: ['network', 'rate_limited', 'unavailable', 'accounts-unreadable', 'download-empty'],
  },
  {
    title: TERMS.submitAgain,
    command: 'again',
    codes: ['dataset-changed', 'model_not_available', 'consent_required'],
  },
  {
    title: TERMS.downloadAgain,
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
  // Repeating the operation asks for the folder again.
  { title: l10n.t('Choose Another Folder…'), command: 'again', codes: ['folder'] },
  {
    title: l10n.t('Refresh Runs'),
    command: COMMANDS.refresh,
    codes: [
      ...['not_found', 'idempotency_conflict', 'run-not-completed', 'run-unknown'],
      ...['artifacts-expired', 'no-artifacts'],
    ],
  },
  { title: TERMS.refreshBalance, command: COMMANDS.refreshBalance, codes: ['insufficient_balance'] },
  {
    title: TERMS.replaceApiKey,
    command: COMMANDS.replaceKey,
    codes: ['invalid_api_key', 'key-rejected'],
  },
  { title: TERMS.enterApiKey, command: COMMANDS.replaceKey, codes: ['key-missing'] },
];

/** Returns the code under which the tables list an error; empty for codes outside the contract. */
function codeOf(error: unknown): string {
  if (isLimited(error)) return 'rate_limited';
  if (isUnavailable(error)) return 'unavailable';
  if (error instanceof DiskError) return error.place;
  return error instanceof ExpectedError && !isForeign(error) ? error.code : '';
}

/** Whether the code is outside the contract. It may equal one of the extension's codes. */
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

/** Only the status identifies a proxy or gateway that answers in place of the service. */
function isGateway(error: unknown, statuses: readonly number[]): error is UnexpectedAnswerError {
  return (
    error instanceof UnexpectedAnswerError &&
    error.kind === 'no-error-body' &&
    statuses.includes(error.httpStatus)
  );
}

function sentenceFor(error: unknown, code: string): string {
  const { file, retryAfterMs } = error as { file?: string; retryAfterMs?: number };
  if (code === 'rate_limited' || code === 'unavailable' || code === 'too-early')
    return [
      code === 'rate_limited' ? l10n.t('Too many requests.') : l10n.t('The service is unavailable.'),
      retryAfterMs === undefined
        ? l10n.t('Try again later.')
        : l10n.t('Try again in {0}.', waitText(retryAfterMs)),
    ].join(' ');
  if (isForeign(error)) return l10n.t('Service error “{0}” ({1}).', error.code, error.httpStatus);
  if (error instanceof NetworkError)
    return NETWORK[error.reason] ?? l10n.t('The connection to the service was lost.');
  if (error instanceof UnexpectedAnswerError) return unexpectedSentence(error);
  if (error instanceof SignedUrlRefusedError)
    return l10n.t('The download server returned an error ({0}).', error.httpStatus);
  if (error instanceof DownloadLinkError) return downloadLinkSentence(error);
  if (error instanceof DatasetChangedError) return changedSentence(error);
  if (error instanceof DiskError) return DISK[error.place][error.code];
  if (!(error instanceof ExpectedError)) return l10n.t('Unexpected error in the extension.');
  if (code === 'accounts-unreadable')
    return l10n.t('Your accounts can’t be read from {0}. Check its permissions.', file ?? '');
  if (code === 'journal-unreadable')
    return l10n.t(
      'Can’t read the submission record {0}. Submitting now could charge you twice.',
      path.basename(file ?? ''),
    );
  return SENTENCES.get(code) ?? l10n.t('Unexpected error ({0}).', code);
}

/** Rounds up, since a request that comes too early is refused again. */
function waitText(ms: number): string {
  const unitMs = ms > 60_000 ? 60_000 : 1_000;
  return formatDuration(Math.ceil(ms / unitMs) * unitMs);
}

const KEY_REJECTED = l10n.t('The service rejected this API key.');
const TAKEN_OVER = l10n.t('Sending stopped: another window may have taken over.');

/** For errors that are described by their code alone. */
const SENTENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // From the service (spec: "Errors")
    invalid_api_key: KEY_REJECTED,
    'key-rejected': KEY_REJECTED,
    validation_failed: l10n.t('The service rejected the request as invalid.'),
    not_found: l10n.t('Not found, or expired.'),
    insufficient_balance: l10n.t('The balance is too low for this run. Add funds.'),
    model_not_available: l10n.t('This model isn’t available. Choose another one.'),
    consent_required: l10n.t('The service did not receive both consents.'),
    idempotency_conflict: l10n.t('This Idempotency-Key was already used for a different request.'),

    // Accounts and the sandbox
    'key-missing': l10n.t(
      'The API key isn’t on this machine. If you entered it in another window, reload this one.',
    ),
    'sandbox-not-started': l10n.t('The sandbox could not be started.'),

    // Submissions
    'lease-unavailable': l10n.t('Can’t lock the extension’s folder. Submitting now could charge you twice.'),
    'journal-busy': l10n.t('Other windows are busy submitting. Try again in a moment.'),
    'later-version': l10n.t('A newer version of this extension has this submission. Update to continue.'),
    'not-owner': TAKEN_OVER,
    'lease-lost': TAKEN_OVER,
    'key-replaced': l10n.t('Can’t resend: it was first sent with another API key.'),
    'too-late': l10n.t('Can’t resend after 23 hours: you could be charged twice.'),
    'clocks-disagree': l10n.t('Can’t resend safely: the time of the first attempt is uncertain.'),
    candidates: l10n.t('A matching run has appeared. Confirm whether it’s yours before resending.'),

    // Downloads
    'run-not-completed': l10n.t('This run has no adapter yet.'),
    'artifacts-expired': l10n.t('This adapter has expired.'),
    'run-unknown': l10n.t('The service doesn’t know this run. Try another account.'),
    'no-artifacts': l10n.t('The service lists no files for this run.'),
    'artifact-gone': l10n.t('The service no longer offers this file.'),
    'download-busy': l10n.t('Another window is already downloading this.'),
    'download-gone': l10n.t('Another window finished or discarded this download.'),
    'download-empty': l10n.t('The downloaded file was empty and was deleted.'),
    'length-unknown': l10n.t('The download was deleted: without its size it couldn’t be verified.'),
    'file-exists': l10n.t('A file of that name appeared and was not overwritten.'),
  }),
);

const UNREACHABLE = l10n.t('Can’t reach the service. Check its URL and your connection.');

/** For any other reason, the connection was lost. */
const NETWORK: Readonly<Partial<Record<NetworkErrorReason, string>>> = {
  refused: UNREACHABLE,
  dns: UNREACHABLE,
  'connect-timeout': UNREACHABLE,
  'answer-timeout': l10n.t('The service did not answer in time.'),
  tls: l10n.t('The server’s certificate is not trusted. Behind a company proxy, install its certificate.'),
  proxy: l10n.t('The proxy blocked the request. Check “http.proxy” and its password.'),
};

const RECORDS_FAILED = l10n.t('The submission records can’t be read or written.');

/** For the folder that the user chose, and for the extension's submission records. */
const DISK: Readonly<Record<DiskError['place'], Readonly<Record<DiskError['code'], string>>>> = {
  folder: {
    'disk-full': l10n.t('That folder’s disk is full.'),
    'no-permission': l10n.t('No permission to write to that folder.'),
    'folder-missing': l10n.t('That folder no longer exists.'),
    disk: l10n.t('Writing to that folder failed.'),
  },
  submissions: {
    'disk-full': l10n.t('The disk is full: submissions can’t be recorded.'),
    'no-permission': l10n.t('No permission to write the submission records.'),
    'folder-missing': RECORDS_FAILED,
    disk: RECORDS_FAILED,
  },
};

function unexpectedSentence({ kind, httpStatus }: UnexpectedAnswerError): string {
  if (kind === 'html')
    return l10n.t('A web page answered ({0}). Does your network need a sign-in?', httpStatus);
  if (kind === 'no-error-body' && httpStatus === 413)
    return l10n.t('A proxy or gateway rejected the upload as too large (413).');
  if (kind === 'no-error-body' && httpStatus === 422)
    return l10n.t('The request was rejected without a reason (422).');
  return l10n.t('The response is not from this service ({0}). Check the service URL.', httpStatus);
}

/** Why the server of a download link did not send the file. The service is not involved. */
function downloadLinkSentence({ failure }: DownloadLinkError): string {
  if (failure instanceof UnexpectedAnswerError)
    return failure.kind === 'unsafe-link'
      ? l10n.t('The download link is unsafe (not https, or inside your network).')
      : l10n.t('The download link doesn’t lead to the file ({0}).', failure.httpStatus);
  const { causeCode, reason } = failure;
  if (causeCode === 'ERR_TOO_SHORT' || causeCode === 'ERR_TOO_LONG')
    return l10n.t('The downloaded file doesn’t have the announced size.');
  if (NETWORK[reason] === UNREACHABLE)
    return l10n.t('The download server can’t be reached. Check your connection.');
  if (reason === 'tls' || reason === 'proxy') return NETWORK[reason] ?? '';
  return l10n.t('The connection to the download server was lost.');
}

function changedSentence({ change, causeCode }: DatasetChangedError): string {
  if (change !== 'unreadable') return l10n.t('The file has changed since it was chosen.');
  return causeCode === 'ENOENT'
    ? l10n.t('The file no longer exists.')
    : l10n.t('The file could not be read.');
}
