// `npm run lint`: types, ESLint and Prettier. TypeScript and ESLint share one program for each tsconfig.json, which each would
// otherwise build and check for itself. With --changed, ESLint and Prettier see only the files that differ from the main branch.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ESLint, type Linter } from 'eslint';
import ts from 'typescript';
import { groupEnd, startGroup } from './processes.ts';
import { fail, root } from './project.ts';

const CONFIGURATIONS = ['tsconfig.json', 'media/tsconfig.json'];

async function main(): Promise<void> {
  const files = process.argv.includes('--changed') ? changedFiles() : ['.'];
  // Beside TypeScript, on the other core.
  const formatted = isFormatted(files);
  const programs = CONFIGURATIONS.map(readProgram);
  const hasTypes = programs.every(reportTypes);
  const isClean = await reportRules(files, programs);
  const isWellFormatted = await formatted;
  if (!hasTypes || !isClean || !isWellFormatted) process.exitCode = 1;
}

function readProgram(configuration: string): ts.Program {
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (problem) => {
      throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
    },
  };
  const read = ts.getParsedCommandLineOfConfigFile(path.join(root, configuration), {}, host);
  if (read === undefined) throw new Error(`${configuration} can't be read`);
  return ts.createProgram({
    rootNames: read.fileNames,
    options: read.options,
    configFileParsingDiagnostics: read.errors,
  });
}

/** Prints what TypeScript finds in a program. @returns whether it finds nothing */
function reportTypes(program: ts.Program): boolean {
  const problems = ts.getPreEmitDiagnostics(program);
  const format = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n',
  };
  process.stdout.write(ts.formatDiagnostics(problems, format));
  return problems.length === 0;
}

/** Prints what ESLint finds. @returns whether it finds nothing */
async function reportRules(files: readonly string[], programs: readonly ts.Program[]): Promise<boolean> {
  const typed = files.filter((file) => file === '.' || /\.(ts|js)$/.test(file));
  if (typed.length === 0) return true;
  // What is in no program, such as a new file in an ignored folder, is an error of the parser.
  const shared: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, programs } },
  };
  const eslint = new ESLint({ cwd: root, overrideConfig: [shared], warnIgnored: false });
  const found = await eslint.lintFiles([...typed]);
  const formatter = await eslint.loadFormatter('stylish');
  process.stdout.write(await formatter.format(found));
  return found.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
}

async function isFormatted(files: readonly string[]): Promise<boolean> {
  if (files.length === 0) return true;
  const prettier = path.join(root, 'node_modules/prettier/bin/prettier.cjs');
  const args = [prettier, '--check', '--log-level=warn', '--ignore-unknown', ...files];
  return (await groupEnd(startGroup(process.execPath, args, { cwd: root, stdio: 'inherit' }))) === 0;
}

/** The files that differ from the main branch, committed or not. On the main branch, those that its remote doesn't have. */
function changedFiles(): string[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const isKnown = (branch: string): boolean => {
    try {
      return git('rev-parse', '--verify', '--quiet', branch) !== '';
    } catch {
      return false;
    }
  };
  const main = ['origin/main', 'main'].find(isKnown) ?? 'HEAD';
  const names = [
    git('diff', '--name-only', git('merge-base', main, 'HEAD')),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return names
    .join('\n')
    .split('\n')
    .filter((name) => name !== '' && existsSync(path.join(root, name)));
}

main().catch(fail);
