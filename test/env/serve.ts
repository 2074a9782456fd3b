// Starts an installed VS Code server on a loopback port.
import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnvironment, endGroup, groupEnd, killGroup, run, startGroup } from './processes.ts';
import { SetUpError } from './project.ts';
import type { VSCodeServer } from './vscode-server.ts';

const startLimitMs = 120_000;

/** A VS Code server that listens at `origin`. */
export interface RunningServer {
  origin: string;
  /** Resolves when the server has ended for any reason. */
  ended: Promise<unknown>;
  stop(): Promise<void>;
  /** Ends the server at once. */
  kill(): Promise<void>;
}

export interface PersonServerOptions {
  userData: string;
  extensions: string;
  /** A folder in place of VS Code's own extensions. */
  builtIn?: string;
  /** 0 for any free port. */
  port: number;
  env?: NodeJS.ProcessEnv;
  /** Of the interface, English by default. */
  language?: string | undefined;
}

/** Starts the server as users do, with the extensions installed in a folder. */
export async function serveForUser(
  server: VSCodeServer,
  options: PersonServerOptions,
): Promise<RunningServer> {
  const args = [
    ...['--auth', 'none', '--bind-addr', `127.0.0.1:${options.port}`],
    ...['--user-data-dir', options.userData, '--extensions-dir', options.extensions],
    ...[
      '--disable-update-check',
      '--disable-telemetry',
      '--disable-workspace-trust',
      '--disable-getting-started-override',
    ],
    ...(options.builtIn === undefined ? [] : ['--builtin-extensions-dir', options.builtIn]),
    ...(options.language === undefined ? [] : ['--locale', options.language]),
  ];
  return listening(
    server,
    [server.entry, ...args],
    options.userData,
    /HTTP server listening on (http:\S+?)\/?\s/,
    options.env,
  );
}

/** Starts the server that runs tests in the extension host. */
export async function serveForTests(server: VSCodeServer, userData: string): Promise<RunningServer> {
  const args = [
    ...['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--accept-server-license-terms'],
    ...['--enable-smoke-test-driver', '--server-data-dir', userData, '--telemetry-level', 'off'],
    ...['--disable-experiments', '--disable-workspace-trust', '--reconnection-grace-time', '5'],
  ];
  return listening(
    server,
    [server.testEntry, ...args],
    userData,
    /Extension host agent listening on (\d+)/,
    withoutGallery,
  );
}

/** Installs a packed extension in a folder. */
export async function installExtension(
  server: VSCodeServer,
  vsix: string,
  userData: string,
  extensions: string,
): Promise<void> {
  const args = [server.entry, '--user-data-dir', userData, '--extensions-dir', extensions];
  await run(server.node, [...args, '--install-extension', vsix, '--force'], {
    env: environment(userData),
    output: 'hide',
  });
}

/** Disables the extension gallery, because tests must not access the internet. */
export const withoutGallery = { EXTENSIONS_GALLERY: '{}' };

function environment(userData: string): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), XDG_CONFIG_HOME: userData, XDG_DATA_HOME: userData };
}

async function listening(
  server: VSCodeServer,
  args: string[],
  userData: string,
  pattern: RegExp,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningServer> {
  await mkdir(userData, { recursive: true });
  const child = startGroup(server.node, args, {
    env: { ...environment(userData), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = groupEnd(child);
  const address = await firstMatch(child, ended, pattern);
  const origin = /^\d+$/.test(address) ? `http://127.0.0.1:${address}` : address;
  return { origin, ended, stop: () => endGroup(child), kill: () => killGroup(child) };
}

async function firstMatch(child: ChildProcess, ended: Promise<unknown>, pattern: RegExp): Promise<string> {
  let output = '';
  const found = new Promise<string>((resolve) => {
    const look = (text: string): void => {
      if (output.length < 100_000) output += text;
      const match = pattern.exec(output);
      if (match?.[1]) resolve(match[1]);
    };
    child.stdout?.setEncoding('utf8').on('data', look);
    child.stderr?.setEncoding('utf8').on('data', look);
  });
  const late = new AbortController();
  const address = await Promise.race([
    found,
    ended.then(() => undefined),
    sleep(startLimitMs, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
  if (address !== undefined) return address;
  await endGroup(child);
  throw new SetUpError(`The VS Code server did not start:\n${output.trim().slice(-2000)}`);
}
