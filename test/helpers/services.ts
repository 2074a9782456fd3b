import type { Session } from '../../src/core/runs/session.ts';
import type { Services } from '../../src/services.ts';
import type { SandboxFault } from '../../src/ui/shared/notifications.ts';

/** The members of a part that a test provides. Their names are checked; the others may be missing. */
type Given<T> = { [K in keyof T]?: { [L in keyof T[K]]?: unknown } | undefined };

/** The session of the account "Work", without runs and balance, with a test's changes. */
export function sessionOf(given: Given<Session> = {}): Session {
  const defaults = {
    account: { id: 'account-1', kind: 'service', name: 'Work', baseUrl: 'https://service.test' },
    state: 'ready',
    isLocked: false,
    models: { models: undefined, nameOf: () => 'Qwen 3 8B' },
    balance: { current: undefined },
    runs: {
      rows: undefined,
      get: () => undefined,
      detail: () => undefined,
      detailFailure: () => undefined,
      label: () => undefined,
      isCompleteSince: () => true,
    },
  };
  return merged(defaults, given) as Session;
}

/** A fault of the sandbox, as notifications show it. */
export function faultOf(sentence: string): SandboxFault {
  return { sentence, button: { 'Choose Another': () => undefined } };
}

/** The services of a window with nothing stored and nothing running, with a test's changes. */
export function servicesOf(given: Given<Services> = {}): Services {
  const defaults = {
    sessions: { active: undefined, find: () => undefined, otherName: () => undefined },
    journal: {
      submissions: [],
      unreadable: [],
      receipts: () => Promise.resolve([]),
      records: () => Promise.resolve([]),
      setShown: () => Promise.resolve(),
      reload: () => Promise.resolve(),
    },
    openJournal: () => Promise.resolve(),
    agreedUnreadable: new Set<string>(),
    submissions: {
      pending: [],
      probe: () => Promise.resolve(),
      onDidChange: () => ({ dispose: () => undefined }),
      get nowMs() {
        return Date.now();
      },
    },
    ensureActiveAccount: () => Promise.resolve(true),
    sandboxFault: { get: () => () => undefined },
    log: { error: () => undefined },
  };
  return merged(defaults, given) as Services;
}

/** Adds to or replaces in the defaults, at any depth of plain objects. Getters stay getters. */
function merged(defaults: object, given: object): object {
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(given))) {
    const before: unknown = Reflect.get(defaults, key);
    const value: unknown = property.value;
    if (isPlain(before) && isPlain(value)) merged(before, value);
    else Object.defineProperty(defaults, key, { ...property, configurable: true });
  }
  return defaults;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
