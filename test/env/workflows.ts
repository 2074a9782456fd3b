// `npm run workflows`: checks the files in .github/workflows, and runs what CI runs on Linux in a fresh clone. With --check, only checks.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { run } from './processes.ts';
import { fail, results, root, say } from './project.ts';

export const WORKFLOWS = ['ci.yaml', 'release.yaml', 'weekly.yaml'] as const;

/** A job: as much as the rules and a run on this machine need. */
export interface Job {
  name: string;
  text: string;
  /** The commands of its steps. */
  runs: string[];
}

export function readWorkflow(name: string): string {
  return readFileSync(path.join(root, '.github/workflows', name), 'utf8').replaceAll('\r\n', '\n');
}

export function jobsOf(workflow: string): Job[] {
  const [, jobs = ''] = workflow.split('\njobs:\n');
  return jobs.split(/^(?= {2}[\w-]+:$)/m).map((text) => ({
    name: text.trim().split(':')[0] ?? '',
    text,
    runs: [...text.matchAll(/^ +(?:- )?run: (.+)$/gm)].map(([, command]) => command ?? ''),
  }));
}

/** What GitHub's own checker says of a workflow, by line. */
export async function diagnose(name: string): Promise<string[]> {
  const checker = await (loading ??= loadChecker());
  const document = checker.TextDocument.create(`file:///${name}`, 'yaml', 1, readWorkflow(name));
  const found = await checker.validate(document);
  return found.map(({ range, message }) => `${name}:${range.start.line + 1}: ${message}`);
}

interface Checker {
  validate(document: unknown): Promise<{ range: { start: { line: number } }; message: string }[]>;
  TextDocument: { create(uri: string, languageId: string, version: number, text: string): unknown };
}

/** Begun once: who imports the file while another writes it gets an empty module. */
let loading: Promise<Checker> | undefined;

/** Bundled, because it imports JSON as only bundlers can. */
async function loadChecker(): Promise<Checker> {
  const outfile = path.join(results, 'workflows/checker.cjs');
  const contents = `
    export { validate } from '@actions/languageservice';
    export { TextDocument } from 'vscode-languageserver-textdocument';`;
  await build({
    stdin: { contents, resolveDir: path.join(root, 'node_modules/@actions/languageservice') },
    ...{ outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' },
  });
  return (await import(pathToFileURL(outfile).href)) as Checker;
}

/** What shellcheck says of a script; nothing where it isn't installed. The workflows have npm scripts and `sha256sum` only. */
function shellProblems(script: string): string[] {
  const { stdout, error } = spawnSync('shellcheck', ['--format=gcc', script], {
    cwd: root,
    encoding: 'utf8',
  });
  return error === undefined ? stdout.split('\n').filter((line) => line !== '') : [];
}

async function main(): Promise<void> {
  const found = (await Promise.all(WORKFLOWS.map(diagnose))).flat();
  found.push(...shellProblems('.ci/run'));
  for (const one of found) console.error(one);
  if (found.length > 0) process.exitCode = 1;
  if (found.length > 0 || process.argv.includes('--check')) return;
  const jobs = jobsOf(readWorkflow('ci.yaml')).filter(({ text }) => /^ {4}runs-on: ubuntu-/m.test(text));
  const folder = await mkdtemp(path.join(tmpdir(), 'workflows-'));
  try {
    await run('git', ['clone', '--quiet', root, folder], { output: 'show' });
    // Each job of CI begins with a clone of its own.
    for (const command of new Set(jobs.flatMap(({ runs }) => runs))) {
      say(command);
      const [program = '', ...args] = command.split(' ');
      await run(program, args, { cwd: folder, timeoutMs: 45 * 60_000, output: 'show' });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) main().catch(fail);
