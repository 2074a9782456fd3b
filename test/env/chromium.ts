import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './processes.ts';
import { SetUpError, say } from './project.ts';

/**
 * Returns the path of Chromium or Chrome: `CHROME_PATH`, otherwise found on PATH, otherwise installed with apt.
 * @throws SetUpError with what is missing and what to do
 */
export async function chromium(): Promise<string> {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (existsSync(named)) return named;
    throw new SetUpError(
      `CHROME_PATH names ${named}, which does not exist. Correct it, or unset it to search for a browser.`,
    );
  }
  const found = find();
  if (found) return found;
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    throw new SetUpError(
      'The tests need Chromium or Chrome, and none was found. Install one (on Debian or Ubuntu: ' +
        '"apt-get install chromium-headless-shell" as root), or name its executable in CHROME_PATH.',
    );
  }
  say('chromium-headless-shell: installing it with apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['update'], { env, output: 'hide' });
    // The part of Chromium that draws pages: it needs a seventh less time than the whole browser.
    const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
      env,
      output: 'hide',
    });
  } catch (error) {
    throw new SetUpError(
      `The tests need Chromium, and apt-get could not install it. Install it, or name its executable in CHROME_PATH.\n${(error as Error).message}`,
    );
  }
  const installed = find();
  if (!installed)
    throw new SetUpError(
      'apt-get installed chromium-headless-shell, and yet it is not on PATH. Name its executable in CHROME_PATH.',
    );
  return installed;
}

/**
 * For every start of the browser: no sandbox, because tests may run as root, and no background requests. Scripts are not fetched
 * on a background thread, because that bypasses the cache of compiled code, and VS Code's script has 19 MB.
 */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[
    'BackgroundResourceFetch',
    // Only the last such argument counts: these are of Playwright's.
    ...['HttpsUpgrades', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'MediaRouter'],
    ...['OptimizationHints', 'NetworkTimeServiceQuerying'],
  ].join()}`,
];

function find(): string | undefined {
  for (const name of [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  ]) {
    const file = onPath(name);
    if (file) return file;
  }
  const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  return existsSync(mac) ? mac : undefined;
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}
