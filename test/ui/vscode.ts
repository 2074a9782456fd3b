// VS Code as a user has it: the server with the packed extension, opened in a browser.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium as playwright, type BrowserContext } from 'playwright-core';
import { chromium, chromiumArguments } from '../env/chromium.ts';
import { results } from '../env/project.ts';
import { serveForUser, withoutGallery, type RunningServer } from '../env/serve.ts';
import { quietSettings, writeKeys, writeSettings } from '../env/settings.ts';
import { vscodeServer } from '../env/vscode-server.ts';
import { BINDINGS } from './keys.ts';
import { Workbench } from './workbench.ts';

/** The folder of the packed extension, installed by `test/env/ui.ts` and shared by all servers. */
export const extensionsFolder = path.join(results, 'ui/extensions');

/** What VS Code stores in the browser, except cached and compiled code. */
const STORAGE = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage';

const running = new Set<VSCode>();
/** Has a profile on disk, where Chromium caches compiled code: a window starts an eighth faster. */
let browser: BrowserContext | undefined;
/** The port of all servers of this process, one after another, because compiled code is cached by URL. */
let port = 0;

export function runningVSCodes(): Iterable<VSCode> {
  return running;
}

export async function closeAll(): Promise<void> {
  for (const vscode of [...running]) await vscode.close();
  await browser?.close();
  browser = undefined;
}

async function startBrowser(): Promise<BrowserContext> {
  const profile = path.join(results, 'ui/browsers', randomUUID().slice(0, 8));
  const context = await playwright.launchPersistentContext(profile, {
    executablePath: await chromium(),
    args: chromiumArguments,
    viewport: { width: 1400, height: 900 },
    // Playwright only clicks elements that do not move.
    reducedMotion: 'reduce',
    // A server of a test has its own certificate.
    ignoreHTTPSErrors: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(30_000);
  return context;
}

/** Owns a server with its user data and the browser's windows. Only one runs at a time per process. */
export class VSCode {
  /** The folder of settings and storage. */
  readonly userData: string;
  /** The workspace of its windows, initially empty. */
  readonly folder: string;
  readonly #context: BrowserContext;
  readonly #serve: () => Promise<RunningServer>;
  #server: RunningServer;

  private constructor(
    userData: string,
    folder: string,
    context: BrowserContext,
    serve: () => Promise<RunningServer>,
    server: RunningServer,
  ) {
    this.userData = userData;
    this.folder = folder;
    this.#context = context;
    this.#serve = serve;
    this.#server = server;
  }

  /** Starts an empty VS Code; `settings` are added to `quietSettings`, `extensions` replaces `extensionsFolder`. */
  static async start(
    options: { settings?: Record<string, unknown>; extensions?: string; language?: string } = {},
  ): Promise<VSCode> {
    const installed = await vscodeServer('vscode');
    const userData = path.join(results, 'ui/user-data', randomUUID().slice(0, 8));
    await writeSettings(path.join(userData, 'User'), { ...quietSettings, ...options.settings });
    await writeKeys(path.join(userData, 'User'), BINDINGS);
    if (options.language !== undefined) await writeLanguagePack(userData, options.language);
    const serve = async () => {
      const server = await serveForUser(installed, {
        userData,
        extensions: options.extensions ?? extensionsFolder,
        port,
        env: withoutGallery,
        language: options.language,
      });
      port = Number(new URL(server.origin).port);
      return server;
    };
    browser ??= await startBrowser();
    const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    const vscode = new VSCode(userData, folder, browser, serve, await serve());
    running.add(vscode);
    return vscode;
  }

  get globalStorage(): string {
    return path.join(this.userData, 'User/globalStorage/fine-tuning-tools.fine-tuning');
  }

  get windows(): Workbench[] {
    // The first page is the browser's initial one.
    const [, ...pages] = this.#context.pages();
    return pages.map((page) => new Workbench(page));
  }

  file(name: string): string {
    return path.join(this.folder, name);
  }

  /** Opens a window on the workspace or another folder. */
  async open(folder = this.folder): Promise<Workbench> {
    const workbench = new Workbench(await this.#context.newPage());
    await workbench.goto(`${this.#server.origin}/?folder=${encodeURIComponent(folder)}`);
    return workbench;
  }

  /** Closes all windows and restarts the server on the same address, as if the machine had been off. */
  async restart(): Promise<void> {
    for (const window of this.windows) await window.close();
    await this.#server.stop();
    this.#server = await this.#serve();
  }

  /** Waits until these runs are in a stored list. */
  async waitUntilStored(runIds: readonly string[]): Promise<void> {
    for (;;) {
      const lists = this.#storedLists();
      if (runIds.every((id) => lists.includes(id))) return;
      await sleep(50);
    }
  }

  /** Waits until the details of a run are stored, and removes their currency, as if an earlier version had stored them. */
  async forgetCurrency(runId: string): Promise<void> {
    const database = new DatabaseSync(path.join(this.globalStorage, 'state.sqlite'), { timeout: 5_000 });
    const forget = database.prepare(
      "UPDATE run_detail SET detail = json_remove(detail, '$.assumedCurrency') WHERE run_id = ?",
    );
    while (forget.run(runId).changes === 0) await sleep(50);
    database.close();
  }

  /** The stored lists of runs as text, or empty if there is none. */
  #storedLists(): string {
    const file = path.join(this.globalStorage, 'state.sqlite');
    if (!existsSync(file)) return '';
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      const rows = database.prepare('SELECT list FROM run_list').all() as { list: string }[];
      return rows.map(({ list }) => list).join();
    } catch {
      return '';
    } finally {
      database.close();
    }
  }

  /**
   * Kills the extension hosts of all windows, as a crash does, and waits until they have ended. VS Code restarts each at most twice
   * within 5 minutes.
   */
  async killExtensionHosts(): Promise<void> {
    const pids = await extensionHosts(this.userData);
    assert.ok(pids.length > 0, 'an extension host runs');
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    while ((await extensionHosts(this.userData)).some((pid) => pids.includes(pid))) await sleep(20);
  }

  /** Closes VS Code and removes all its data. */
  async close(): Promise<void> {
    running.delete(this);
    for (const window of this.windows) await window.close();
    // Killed, because nothing it could still write is needed.
    await this.#server.kill();
    const [blank] = this.#context.pages();
    assert.ok(blank);
    const session = await this.#context.newCDPSession(blank);
    const { origin } = this.#server;
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: STORAGE });
    await session.detach();
    for (const each of [this.userData, this.folder]) await rm(each, { recursive: true, force: true });
  }
}

/** Lets the server take a language that it has no texts of, as it takes an installed language pack. */
async function writeLanguagePack(userData: string, language: string): Promise<void> {
  const texts = path.join(userData, 'no-texts.i18n.json');
  await writeFile(texts, JSON.stringify({ contents: {} }));
  const extensions = [{ extensionIdentifier: { id: 'test.language-pack' }, version: '1.0.0' }];
  const pack = { hash: 'none', extensions, translations: { vscode: texts }, label: language };
  await writeFile(path.join(userData, 'languagepacks.json'), JSON.stringify({ [language]: pack }));
}

/** The process IDs of the extension hosts with this user data, found in Linux's /proc. */
async function extensionHosts(userData: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const isOne = async (pid: string): Promise<boolean> => {
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')),
    );
    return (
      (command ?? '').includes('--type=extensionHost') &&
      (environment ?? '').split('\0').includes(`XDG_DATA_HOME=${userData}`)
    );
  };
  const found = await Promise.all(pids.map(async (pid) => ((await isOne(pid)) ? [Number(pid)] : [])));
  return found.flat();
}
