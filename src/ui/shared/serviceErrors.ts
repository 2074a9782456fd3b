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
import { COMMANDS, type CommandId } from './ids.ts';
import { downloadFailure, downloadLinkSentence, refusedLinkSentence } from './downloadErrorMessages.ts';
import { formatDuration } from './format.ts';
import { journalSentence } from './submissionErrorMessages.ts';

/** One thing to do about an error: a command, or what failed once more, from its first question on. */
interface Action {
  title: string;
  command: CommandId | 'again';
}

/** What a person is told of an error: one sentence, one thing to do, and the service's own words beside it. */
export interface Explanation {
  sentence: string;
  action?: Action;
  /** Plain text of the service, cut by the client; shown beside the sentence, never instead of it. */
  serviceMessage?: string;
}

const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** The one place where each code becomes a sentence and an action. */
export function explain(error: unknown): Explanation {
  if (error instanceof ServiceError) {
    const explanation = explainService(error);
    return error.serviceMessage === ''
      ? explanation
      : { ...explanation, serviceMessage: error.serviceMessage };
  }
  if (error instanceof NetworkError) return { sentence: networkSentence(error), action: tryAgain() };
  if (error instanceof UnexpectedAnswerError) return explainUnexpected(error);
  if (error instanceof SignedUrlRefusedError)
    return { sentence: refusedLinkSentence(error.httpStatus), action: downloadAgain() };
  if (error instanceof DownloadLinkError)
    return { sentence: downloadLinkSentence(error.failure), action: downloadAgain() };
  if (error instanceof DatasetChangedError)
    return { sentence: changedSentence(error), action: submitAgain() };
  if (error instanceof DiskError)
    return error.place === 'submissions'
      ? { sentence: recordsSentence(error), action: showLog() }
      : { sentence: folderSentence(error), action: chooseFolder() };
  if (error instanceof ExpectedError) {
    const sentence = journalSentence(error.code, error);
    if (sentence !== undefined) return { sentence, action: showLog() };
    const failure = downloadFailure(error.code, error);
    return failure === undefined
      ? explainCode(error)
      : { sentence: failure.sentence, action: remedies[failure.remedy]() };
  }
  return { sentence: vscode.l10n.t('Something went wrong inside the extension.'), action: showLog() };
}

/** Sentence and service's words as one text. */
export function asText({ sentence, serviceMessage }: Explanation): string {
  return serviceMessage === undefined
    ? sentence
    : vscode.l10n.t('{0} The service says: “{1}”', sentence, serviceMessage);
}

/** Does what an action's button says. @param again does once more what failed */
export function act({ command }: Action, again: () => void): void {
  if (command === 'again') again();
  else void vscode.commands.executeCommand(command);
}

function explainService(error: ServiceError): Explanation {
  switch (error.code) {
    case 'invalid_api_key':
      return refusedKey();
    case 'rate_limited':
      return { sentence: rateLimitedSentence(error.retryAfterMs), action: tryAgain() };
    case 'validation_failed':
      return { sentence: vscode.l10n.t('The service rejected the request as invalid.'), action: showLog() };
    case 'not_found':
      return {
        sentence: vscode.l10n.t(
          'The service does not have this: it is unknown, not finished yet or no longer kept.',
        ),
        action: refreshRuns(),
      };
    case 'insufficient_balance':
      return {
        sentence: vscode.l10n.t(
          'The balance is too low for this run. The service does not tell the price. Add funds in its dashboard, then continue.',
        ),
        action: { title: vscode.l10n.t('Refresh Balance'), command: COMMANDS.refreshBalance },
      };
    case 'model_not_available':
      return {
        sentence: vscode.l10n.t('The model is not available at the moment. Choose another one.'),
        action: submitAgain(),
      };
    case 'consent_required':
      return {
        sentence: vscode.l10n.t('The service did not receive both consents.'),
        action: submitAgain(),
      };
    case 'idempotency_conflict':
      return {
        sentence: vscode.l10n.t('The service knows this Idempotency-Key from another request.'),
        action: refreshRuns(),
      };
    default:
      if (error.code === 'unavailable' || UNAVAILABLE.has(error.httpStatus))
        return { sentence: unavailableSentence(error.retryAfterMs), action: tryAgain() };
      return {
        sentence: vscode.l10n.t(
          'The service answered with the error “{0}” ({1}).',
          error.code,
          error.httpStatus,
        ),
        action: showLog(),
      };
  }
}

function refusedKey(): Explanation {
  return {
    sentence: vscode.l10n.t('The service does not accept this API key.'),
    action: { title: vscode.l10n.t('Replace API Key…'), command: COMMANDS.replaceKey },
  };
}

function rateLimitedSentence(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return vscode.l10n.t('Too many requests. Wait a moment, then try again.');
  return vscode.l10n.t('Too many requests. Try again in {0}.', waitText(retryAfterMs));
}

function unavailableSentence(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? vscode.l10n.t('The service is unavailable. Try again later.')
    : vscode.l10n.t('The service is unavailable. Try again in {0}.', waitText(retryAfterMs));
}

/** Rounded up: who comes too early is refused again. */
function waitText(ms: number): string {
  const unitMs = ms > 60_000 ? 60_000 : 1_000;
  return formatDuration(Math.ceil(ms / unitMs) * unitMs);
}

function networkSentence(error: NetworkError): string {
  switch (error.reason) {
    case 'refused':
      return vscode.l10n.t(
        'Nothing answers at the address of the service. Check the address and whether you are online.',
      );
    case 'dns':
      return vscode.l10n.t(
        'The address of the service cannot be found. Check it and whether you are online.',
      );
    case 'tls':
      return vscode.l10n.t(
        'The certificate of the service is not trusted. Behind a company proxy, install its certificate.',
      );
    case 'proxy':
      return vscode.l10n.t(
        'The proxy did not let the request through. Check the settings “http.proxy” and its password.',
      );
    case 'connect-timeout':
      return vscode.l10n.t('The service could not be reached in time.');
    case 'answer-timeout':
      return vscode.l10n.t('The service did not answer in time.');
    case 'stalled':
      return vscode.l10n.t('The connection stood still for too long and was given up.');
    default:
      return vscode.l10n.t('The connection to the service broke.');
  }
}

/** What a proxy or a gateway says in the service's place is known by its status alone. */
function explainUnexpected(error: UnexpectedAnswerError): Explanation {
  const { kind, httpStatus, retryAfterMs } = error;
  if (kind === 'no-error-body') {
    if (UNAVAILABLE.has(httpStatus))
      return { sentence: unavailableSentence(retryAfterMs), action: tryAgain() };
    if (httpStatus === 429) return { sentence: rateLimitedSentence(retryAfterMs), action: tryAgain() };
    if (httpStatus === 413)
      return {
        sentence: vscode.l10n.t('A proxy or gateway rejected the upload as too large (413).'),
        action: showLog(),
      };
    if (httpStatus === 422)
      return {
        sentence: vscode.l10n.t('The request was rejected (422) without the service’s usual error message.'),
        action: showLog(),
      };
  }
  return { sentence: unexpectedSentence(error), action: showLog() };
}

function unexpectedSentence(error: UnexpectedAnswerError): string {
  switch (error.kind) {
    case 'redirect':
      return vscode.l10n.t(
        'The address leads elsewhere ({0}); nothing was followed. Check the address.',
        error.httpStatus,
      );
    case 'html':
      return vscode.l10n.t(
        'A web page answered instead of the service ({0}): a sign-in page of the network, perhaps.',
        error.httpStatus,
      );
    default:
      return vscode.l10n.t(
        'The answer is not one of this service ({0}). Check the address.',
        error.httpStatus,
      );
  }
}

function changedSentence({ change, causeCode }: DatasetChangedError): string {
  switch (change) {
    case 'grew':
      return vscode.l10n.t('The file has grown since it was chosen.');
    case 'shrank':
      return vscode.l10n.t('The file has become shorter since it was chosen.');
    case 'changed':
      return vscode.l10n.t('The file was changed after it was chosen.');
    case 'unreadable':
      return causeCode === 'ENOENT'
        ? vscode.l10n.t('The file is not there any more.')
        : vscode.l10n.t('The file could not be read to its end.');
  }
}

/** What keeps the extension from its records of submissions. */
function recordsSentence({ code }: DiskError): string {
  switch (code) {
    case 'disk-full':
      return vscode.l10n.t('The disk is full: submissions can’t be recorded.');
    case 'no-permission':
      return vscode.l10n.t('The extension has no permission to write its submission records.');
    default:
      return vscode.l10n.t('The submission records could not be read or written. See the log for details.');
  }
}

/** What is wrong with a folder that the user chose. */
function folderSentence({ code }: DiskError): string {
  switch (code) {
    case 'disk-full':
      return vscode.l10n.t('There is no space left in that folder. Partial files were removed.');
    case 'no-permission':
      return vscode.l10n.t('You don’t have permission to write to that folder.');
    case 'folder-missing':
      return vscode.l10n.t('That folder no longer exists.');
    default:
      return vscode.l10n.t('Writing to that folder failed. Partial files were removed.');
  }
}

function explainCode(error: ExpectedError): Explanation {
  const { code } = error;
  switch (code) {
    case 'key-rejected':
      return refusedKey();
    case 'key-missing':
      return {
        sentence: vscode.l10n.t(
          'The API key of this account is not on this machine. If you just entered it in another window, reload this one.',
        ),
        action: { title: vscode.l10n.t('Enter API Key…'), command: COMMANDS.replaceKey },
      };
    case 'accounts-unreadable':
      return {
        sentence: vscode.l10n.t(
          'Your accounts can’t be read from {0}. Check the file and its permissions.',
          'file' in error ? String(error.file) : '',
        ),
        action: tryAgain(),
      };
    case 'sandbox-not-started':
      return {
        sentence: vscode.l10n.t('The sandbox could not be started. The log says why.'),
        action: showLog(),
      };
    default:
      return { sentence: vscode.l10n.t('This did not work ({0}).', code), action: showLog() };
  }
}

function tryAgain(): Action {
  return { title: vscode.l10n.t('Try Again'), command: 'again' };
}

function submitAgain(): Action {
  return { title: vscode.l10n.t('Submit Again…'), command: 'again' };
}

function downloadAgain(): Action {
  return { title: vscode.l10n.t('Download Again…'), command: 'again' };
}

/** What failed asks for the folder again. */
function chooseFolder(): Action {
  return { title: vscode.l10n.t('Choose Another Folder…'), command: 'again' };
}

function refreshRuns(): Action {
  return { title: vscode.l10n.t('Refresh Runs'), command: COMMANDS.refresh };
}

function showLog(): Action {
  return { title: vscode.l10n.t('Show Log'), command: COMMANDS.showLog };
}

/** What helps a download. */
const remedies = {
  again: downloadAgain,
  retry: () => ({ title: vscode.l10n.t('Retry'), command: 'again' }) as const,
  runs: refreshRuns,
  log: showLog,
} as const;
