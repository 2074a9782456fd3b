// The server with the packed extension, opened in a browser: VS Code as a user has it, but without slow drawing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium as playwright, type BrowserContext } from 'playwright-core';
import { chromium, chromiumArguments } from '../env/chromium.ts';
import { results } from '../env/project.ts';
import { serveForUser, withoutGallery, type RunningServer } from '../env/serve.ts';
import { testSettings, writeKeys, writeSettings } from '../env/settings.ts';
import { vscodeServer } from '../env/vscode-server.ts';
import { BINDINGS } from './keys.ts';
import { LIMIT_MS, until } from './waits.ts';
import { Workbench } from './workbench.ts';

/** The folder of the packed extension, installed by `test/env/ui.ts` and shared by all servers. */
export const extensionsFolder = path.join(results, 'ui/extensions');

/** The extensions of VS Code itself, copied by `test/env/ui.ts`. */
export const builtInFolder = path.join(results, 'ui/built-in');

/** What VS Code stores in the browser, except cached and compiled code. */
const STORAGE = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage';

const running = new Set<VSCode>();
/** Has a profile on disk, where Chromium caches compiled code: a window starts in half the time. */
let browser: BrowserContext | undefined;

export function runningVSCodes(): Iterable<VSCode> {
  return running;
}

export async function closeAll(): Promise<void> {
  for (const vscode of [...running]) await vscode.close();
  for (const { server } of hosts.values()) await server.stop();
  hosts.clear();
  await browser?.close();
  browser = undefined;
}

/** Its pages have no animations, which are drawn 60 times a second. */
async function startBrowser(): Promise<BrowserContext> {
  const profile = path.join(results, 'ui/browsers', randomUUID().slice(0, 8));
  const context = await playwright.launchPersistentContext(profile, {
    executablePath: await chromium(),
    args: chromiumArguments,
    viewport: { width: 1400, height: 900 },
    // Without pictures, a quarter of the dots: a tenth less processor time.
    deviceScaleFactor: process.env.FINE_TUNING_SCREENSHOTS === undefined ? 0.5 : 1,
    // Playwright only clicks elements that do not move.
    reducedMotion: 'reduce',
    // A server of a test has its own certificate.
    ignoreHTTPSErrors: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(LIMIT_MS);
  await context.addInitScript(`
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, ::before, ::after { animation: none !important; transition: none !important }');
    document.adoptedStyleSheets.push(sheet);
  `);
  return context;
}

/** A server and its user data. */
interface Host {
  userData: string;
  server: RunningServer;
  /** Whether nothing is stored. */
  isEmpty: boolean;
}

/** The servers of this process, by what they were started with. Each serves all tests that need it, one after another. */
const hosts = new Map<string, Host>();

async function startHost(options: Pick<Options, 'extensions' | 'language'>): Promise<Host> {
  const installed = await vscodeServer('vscode');
  const userData = path.join(results, 'ui/user-data', randomUUID().slice(0, 8));
  await mkdir(userData, { recursive: true });
  if (options.language !== undefined) await writeLanguagePack(userData, options.language);
  const server = await serveForUser(installed, {
    ...{ userData, builtIn: builtInFolder, port: 0, env: withoutGallery, language: options.language },
    extensions: options.extensions ?? extensionsFolder,
  });
  return { userData, server, isEmpty: true };
}

/** What a test needs of VS Code. */
interface Options {
  /** Added to `testSettings`. */
  settings?: Record<string, unknown>;
  /** In place of `extensionsFolder`. */
  extensions?: string;
  language?: string;
}

/** VS Code with a new profile, and the browser's windows. Only one runs at a time per process. */
export class VSCode {
  /** The workspace of its windows, initially empty. */
  readonly folder: string;
  readonly #context: BrowserContext;
  readonly #host: Host;

  private constructor(folder: string, context: BrowserContext, host: Host) {
    this.folder = folder;
    this.#context = context;
    this.#host = host;
  }

  /** Starts an empty VS Code. */
  static async start(options: Options = {}): Promise<VSCode> {
    const key = JSON.stringify([options.extensions, options.language]);
    const host = hosts.get(key) ?? (await startHost(options));
    hosts.set(key, host);
    browser ??= await startBrowser();
    // A file whose hooks failed has left something.
    running.clear();
    for (const page of browser.pages().slice(1)) await page.close();
    if (!host.isEmpty) await forget(host, browser);
    host.isEmpty = false;
    const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    const vscode = new VSCode(folder, browser, host);
    await vscode.set(options.settings ?? {});
    await writeKeys(path.join(host.userData, 'User'), BINDINGS);
    running.add(vscode);
    return vscode;
  }

  /** The folder of settings and storage. */
  get userData(): string {
    return this.#host.userData;
  }

  /** Replaces the user's settings, added to `testSettings`; a window that is loaded later has them. */
  async set(settings: Record<string, unknown>): Promise<void> {
    await writeSettings(path.join(this.userData, 'User'), { ...testSettings, ...settings });
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
    await workbench.goto(`${this.#host.server.origin}/?folder=${encodeURIComponent(folder)}`);
    return workbench;
  }

  /**
   * Kills the extension hosts of all windows, as a crash does, and waits until they have ended. VS Code restarts each at most twice
   * within 5 minutes.
   */
  async killExtensionHosts(): Promise<void> {
    assert.ok((await killExtensionHosts(this.userData)) > 0, 'an extension host runs');
  }

  /** Closes all windows and removes what they stored. */
  async close(): Promise<void> {
    running.delete(this);
    for (const window of this.windows) await window.close();
    await forget(this.#host, this.#context);
    await remove(this.folder);
  }
}

/** Removes what VS Code and the browser have stored; no window may be open. */
async function forget(host: Host, context: BrowserContext): Promise<void> {
  // Killed, because nothing they could still write is needed.
  await killExtensionHosts(host.userData);
  const [blank] = context.pages();
  assert.ok(blank);
  const session = await context.newCDPSession(blank);
  const { origin } = host.server;
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: STORAGE });
  await session.detach();
  await remove(path.join(host.userData, 'User'));
  host.isEmpty = true;
}

function remove(file: string): Promise<void> {
  return rm(file, { recursive: true, force: true });
}

/** Lets the server accept a language without texts, as if a language pack was installed. */
async function writeLanguagePack(userData: string, language: string): Promise<void> {
  const texts = path.join(userData, 'no-texts.i18n.json');
  await writeFile(texts, JSON.stringify({ contents: {} }));
  const extensions = [{ extensionIdentifier: { id: 'test.language-pack' }, version: '1.0.0' }];
  const pack = { hash: 'none', extensions, translations: { vscode: texts }, label: language };
  await writeFile(path.join(userData, 'languagepacks.json'), JSON.stringify({ [language]: pack }));
}

/** Kills the extension hosts with this user data, and waits until they have ended. @returns their number */
async function killExtensionHosts(userData: string): Promise<number> {
  const pids = await extensionHosts(userData);
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself, as it does when its window closes.
    }
  await until('the extension hosts have ended', async () => {
    const left = await extensionHosts(userData);
    return !left.some((pid) => pids.includes(pid));
  });
  return pids.length;
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
