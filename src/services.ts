import path from 'node:path';
import * as vscode from 'vscode';
import { originOf, type Account } from './core/accounts/account.ts';
import { AccountStore } from './core/accounts/accountStore.ts';
import { ApiKeys, type KeyOwner } from './core/accounts/apiKeys.ts';
import { Client, type Connection } from './core/api/client.ts';
import type { RateGate } from './core/api/rateGate.ts';
import { Transport } from './core/api/transport.ts';
import { lazy } from './core/base/async.ts';
import { DisposableStore } from './core/base/disposable.ts';
import { countRareCases } from './core/base/rareCases.ts';
import type { DatasetChecker } from './core/datasets/checker.ts';
import { Fingerprints } from './core/datasets/fingerprints.ts';
import type { Reading } from './core/datasets/readFacts.ts';
import type { Reports } from './core/datasets/reports.ts';
import { Downloads } from './core/downloads/downloads.ts';
import { Notices } from './core/runs/notices.ts';
import { Sessions } from './core/runs/sessions.ts';
import { removeOldStore } from './core/storage/oldStore.ts';
import { Journal } from './core/submission/journal.ts';
import { submissionsTo } from './core/submission/submission.ts';
import { Submissions } from './core/submission/submissions.ts';
import type { Scenario } from './sandbox/scenarios.ts';
import { Commands, ensureActiveAccount as ensureActive } from './ui/shared/commands.ts';
import type { AgentTool } from './ui/shared/ids.ts';
import { Log, reportError as report } from './ui/shared/log.ts';
import type { SandboxFault } from './ui/shared/notifications.ts';
import type { RowsAboveRuns } from './ui/shared/rowText.ts';
import { onDidChangeSettings, proxySettings } from './ui/shared/settings.ts';
import { UnreadableFiles } from './ui/shared/unreadableFiles.ts';

/** What every feature gets: the stores of core and VS Code's context. All are disposed with the extension. */
export type Services = Awaited<ReturnType<typeof createServices>>;

/** Creates what features share, and reads the accounts. Returns before the journal is opened. */
export async function createServices(context: vscode.ExtensionContext) {
  const disposables = new DisposableStore();
  context.subscriptions.push(disposables);
  const storage = context.globalStorageUri.fsPath;
  const log = disposables.add(new Log());
  const unreadable = new UnreadableFiles(log);
  void removeOldStore(storage);
  const transport = disposables.add(new CurrentTransport());

  // Accounts, their API keys, and one session for each.
  const provided = contributions(disposables);
  const accounts = disposables.add(new AccountStore(storage, unreadable.of('accounts')));
  const openAccounts = (): Promise<void> =>
    accounts.open().catch((error: unknown) => report(log, error, () => void openAccounts()));
  await openAccounts();
  const keyIdOfSent = async (owner: KeyOwner, apiKey: string) => {
    const { keyIdOf } = await import('./core/api/keyCheck.ts');
    return keyIdOf(submissionsTo(await stores.readSubmissions(), owner), apiKey);
  };
  const apiKeys = disposables.add(new ApiKeys(context.secrets, keyIdOfSent));
  const connect = async (account: Account): Promise<Connection | undefined> => {
    if (account.kind === 'sandbox') return provided.sandboxConnection.get()();
    const key = await apiKeys.read({ accountId: account.id, origin: originOf(account) });
    return key === undefined ? undefined : { baseUrl: account.baseUrl, ...key };
  };
  const createClient = (connection: Connection, gate?: RateGate) =>
    new Client(connection, () => transport.current, { gate });
  const sessions = disposables.add(new Sessions(accounts, connect, createClient));
  disposables.add(apiKeys.onDidChange((accountId) => sessions.reconnect(accountId)));
  disposables.add(
    transport.onDidChange(() => {
      const { active } = sessions;
      if (active?.state === 'offline') sessions.reconnect(active.account.id);
    }),
  );
  /** Reports an error that ended a user's action, unless the session's state already shows it. */
  const reportError = (error: unknown, retry: () => void): void => {
    if (!sessions.isReportedByState(error)) report(log, error, retry);
  };

  const stores = submissionStores(disposables, { log, storage, unreadable });
  const runs = runStores(disposables, { sessions, storage, transport });
  return {
    ...{ context, disposables, log, accounts, apiKeys, sessions, connect, createClient },
    ...stores,
    ...runs,
    ...provided,
    rareCases: disposables.add(countRareCases(path.join(storage, 'rare'))),
    fingerprints: new Fingerprints(path.join(storage, 'fingerprints'), () => provided.rowComparer.get()()),
    /** Returns the path of a built file. */
    dist: (file: string) => path.join(context.extensionPath, 'dist', file),
    ensureActiveAccount: (accountId: string) => ensureActive(accounts, accountId),
    reportError,
    commands: new Commands(accounts, reportError),
  };
}

/** The submissions of all accounts, which outlive this window. */
function submissionStores(
  disposables: DisposableStore,
  parts: { log: Log; storage: string; unreadable: UnreadableFiles },
) {
  const { log, storage, unreadable } = parts;
  const journal = disposables.add(
    new Journal(path.join(storage, 'submissions'), {
      onUnreadable: unreadable.of('submission'),
      onOldNames: () => log.info('submissions-of-old-names: ignored'),
    }),
  );
  const openJournal = lazy(() => journal.open());
  return {
    journal,
    openJournal,
    /** Reads the open submissions and the receipts of all accounts. */
    readSubmissions: async () => {
      await openJournal();
      const receipts = await journal.receipts();
      return [...journal.submissions, ...receipts];
    },
    submissions: disposables.add(new Submissions(journal)),
  };
}

/** Data of each account's runs that all windows share. */
function runStores(
  disposables: DisposableStore,
  parts: { sessions: Sessions; storage: string; transport: CurrentTransport },
) {
  const { sessions, storage, transport } = parts;
  const runsFolder = path.join(storage, 'runs');
  const notices = disposables.add(new Notices(runsFolder));
  const downloads = disposables.add(
    new Downloads({
      runsFolder,
      transport: () => transport.current,
      sessionOf: (accountId) => sessions.find(accountId),
      verify: async (file, options) =>
        (await import('./core/adapters/archive.ts')).verifyArchive(file, options),
    }),
  );
  return { runsFolder, notices, downloads };
}

/** The two steps in which VS Code calls a tool for agents. */
export interface AgentTools {
  prepare(name: AgentTool, input: unknown): Promise<vscode.PreparedToolInvocation>;
  /** Rejects only with a fixed text, which says what could not be loaded. */
  invoke(
    name: AgentTool,
    input: unknown,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult>;
}

/**
 * Returns the sandbox fault that is switched on for an account; undefined without one.
 * @param cause counts only these faults, or only the one that causes this error
 */
export type FaultOf = (
  account: Pick<Account, 'kind'>,
  cause?: readonly Scenario[] | { error: unknown },
) => SandboxFault | undefined;

/** What one feature provides to others, by name. */
function contributions(disposables: DisposableStore) {
  const datasetReports = new Provided<() => Promise<Reports>>();
  const datasetReadings = new Provided<() => Promise<Reports<Reading>>>();
  const datasetChecker = new Provided<() => Promise<DatasetChecker>>();
  const rowComparer = new Provided<() => Promise<Pick<DatasetChecker, 'compareRows'>>>();
  return {
    rowsAboveRuns: new Provided<RowsAboveRuns>(),
    sandboxConnection: new Provided<() => Promise<Connection>>(),
    sandboxFault: new Provided<FaultOf>(),
    /** Returns what a file of answers shows for a run; undefined if it shows nothing. */
    answersVerdict: new Provided<
      (runId: string, file: string, signal: AbortSignal) => Promise<string | undefined>
    >(),
    datasetReports,
    datasetReadings,
    datasetChecker,
    rowComparer,
    agentTools: new Provided<AgentTools>(),
    /** Loads the dataset checks at the first use. */
    reports: () => datasetReports.get()(),
    /** Loads the facts about the texts of datasets, likewise. */
    readings: () => datasetReadings.get()(),
    /** Fires when a dataset check that the user requested has ended. */
    checked: disposables.add(new vscode.EventEmitter<void>()),
  };
}

/** Owns the transport of all clients. New proxy settings replace it, so clients ask for it at each request. */
class CurrentTransport implements vscode.Disposable {
  readonly #onDidChange = new vscode.EventEmitter<void>();
  readonly #subscription = onDidChangeSettings(['http'], () => {
    const old = this.current;
    this.current = new Transport(proxySettings());
    old.dispose();
    this.#onDidChange.fire();
  });

  readonly onDidChange = this.#onDidChange.event;
  current = new Transport(proxySettings());

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
    this.current.dispose();
  }
}

/** A value that one feature provides to others. That feature comes before them in `start.ts`. */
class Provided<T> {
  #value: T | undefined;

  provide(value: T): void {
    this.#value = value;
  }

  get(): T {
    if (this.#value === undefined) throw new ReferenceError();
    return this.#value;
  }
}
