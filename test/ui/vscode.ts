// VS Code as a person has it: the server with the packed extension installed, and a browser before it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium as playwright, type BrowserContext } from 'playwright-core';
import { chromium, chromiumArguments } from '../env/chromium.ts';
import { results } from '../env/project.ts';
import { serveForPerson, withoutGallery, type RunningServer } from '../env/serve.ts';
import { quietSettings, writeKeys, writeSettings } from '../env/settings.ts';
import { vscodeServer } from '../env/vscode-server.ts';
import { KEYS } from './keys.ts';
import { Workbench } from './workbench.ts';

/** Where `test/env/ui.ts` has installed the packed extension; every server of the tests shares it. */
export const extensionsFolder = path.join(results, 'ui/extensions');

/** What a VS Code stores in the browser; not what was read and compiled. */
const STORAGE = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage';

const running = new Set<VSCode>();
/** With a profile on disk, where Chromium keeps what it has read and compiled: a window takes an eighth less to start. */
let browser: BrowserContext | undefined;
/** That of every server of this process, one after the other: what was compiled is kept by address. */
let port = 0;

/** Every VS Code that runs now. */
export function runningVSCodes(): Iterable<VSCode> {
  return running;
}

/** Ends every VS Code and the browser. */
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
    // What moves is clicked only when it has come to rest.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(30_000);
  return context;
}

/** One server with its own user data, and the browser, of which it has everything: there is one at a time. */
export class VSCode {
  /** Ids, settings and storage of this VS Code on disk. */
  readonly userData: string;
  /** The workspace of its windows, empty at first. */
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

  /** Starts one with nothing in it; `settings` are added to the quiet ones, `extensions` is another folder than that of the packed one alone. */
  static async start(
    options: { settings?: Record<string, unknown>; extensions?: string } = {},
  ): Promise<VSCode> {
    const installed = await vscodeServer('vscode');
    const userData = path.join(results, 'ui/user-data', randomUUID().slice(0, 8));
    await writeSettings(path.join(userData, 'User'), { ...quietSettings, ...options.settings });
    await writeKeys(path.join(userData, 'User'), KEYS);
    const serve = async () => {
      const server = await serveForPerson(installed, {
        userData,
        extensions: options.extensions ?? extensionsFolder,
        port,
        // The menu has every fault of the sandbox.
        env: { ...withoutGallery, FINE_TUNING_SANDBOX_SCENARIOS: 'all' },
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

  /** Where the extension keeps its files. */
  get globalStorage(): string {
    return path.join(this.userData, 'User/globalStorage/fine-tuning-tools.fine-tuning');
  }

  /** Every window that is open. */
  get windows(): Workbench[] {
    // The first page is the browser's own.
    const [, ...pages] = this.#context.pages();
    return pages.map((page) => new Workbench(page));
  }

  /** A path in the workspace. */
  file(name: string): string {
    return path.join(this.folder, name);
  }

  /** Opens a window on the workspace, or on another folder. */
  async open(folder = this.folder): Promise<Workbench> {
    const workbench = new Workbench(await this.#context.newPage());
    await workbench.goto(`${this.#server.origin}/?folder=${encodeURIComponent(folder)}`);
    return workbench;
  }

  /** Ends the server and starts it again on the same address, as if the machine had been off; windows have to be opened anew. */
  async restart(): Promise<void> {
    for (const window of this.windows) await window.close();
    await this.#server.stop();
    this.#server = await this.#serve();
  }

  /** Waits until these runs are in a stored list, which outlives every window. */
  async waitUntilKept(runIds: readonly string[]): Promise<void> {
    for (;;) {
      const lists = this.#storedLists();
      if (runIds.every((id) => lists.includes(id))) return;
      await sleep(50);
    }
  }

  /** The stored lists of runs, as text; empty while there is none. */
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
   * Ends the extension hosts of all windows as a crash does. VS Code starts each anew, twice within 5 minutes at most; what
   * ran in them runs no more when this resolves.
   */
  async killExtensionHosts(): Promise<void> {
    const pids = await extensionHosts(this.userData);
    assert.ok(pids.length > 0, 'an extension host runs');
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    while ((await extensionHosts(this.userData)).some((pid) => pids.includes(pid))) await sleep(20);
  }

  /** Ends it, and removes all of its data. */
  async close(): Promise<void> {
    running.delete(this);
    for (const window of this.windows) await window.close();
    // Nothing that it could still write is read.
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

/** The process ids of the extension hosts of the server with this user data: Linux tells what each process was started with. */
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
