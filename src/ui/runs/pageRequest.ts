import type { RunPageAction, RunPageMemory, RunPageRequest } from './protocol.ts';

const ACTIONS: Readonly<Record<RunPageAction, true>> = {
  download: true,
  inspect: true,
  submitAgain: true,
  refresh: true,
  openDataset: true,
  copy: true,
  cancelDownload: true,
  reveal: true,
  compare: true,
  useAccount: true,
  switchAccount: true,
  replaceKey: true,
};

/** Longer than any key that the extension gave out. */
const MAX_KEY_LENGTH = 200;
/** Ids of accounts and runs are bounded: a page's memory may be anyone's. */
const MAX_ID_LENGTH = 400;

/** A message of the page as the request that it is, or undefined where the protocol has none such. */
export function runPageRequestOf(message: unknown): RunPageRequest | undefined {
  if (!isRecord(message)) return undefined;
  const { type, action, key } = message;
  if (type === 'ready') return { type };
  if (type !== 'act' || typeof key !== 'string' || key.length > MAX_KEY_LENGTH) return undefined;
  return isAction(action) ? { type, action, key } : undefined;
}

/** What a page remembers of before the window was loaded anew, or undefined where it is nothing of ours. */
export function runPageMemoryOf(state: unknown): RunPageMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, runId } = state;
  return isId(accountId) && isId(runId) ? { accountId, runId } : undefined;
}

function isAction(value: unknown): value is RunPageAction {
  return typeof value === 'string' && Object.hasOwn(ACTIONS, value);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
