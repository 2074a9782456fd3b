// `npm run test:model [-- [--memory <MB>] [<names>]]`: Spin visits every state of the models of docs/journal.md. Each model
// must hold in every configuration, and must fail once one of its rules is removed. Not part of `npm test`, which needs neither
// Spin nor a compiler.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../env/processes.ts';
import { fail, results, SetUpError } from '../env/project.ts';

/** Only a search that hangs takes longer. */
const LIMIT_MS = 6 * 3_600_000;
/** The limit for the steps of a run. A search that reaches it counts as not finished. */
const MOST_STEPS = 3_000_000;

interface Check {
  name: string;
  model: 'submission' | 'claims';
  flags: string;
  expected: 'holds' | 'fails';
}

interface Outcome {
  result: 'holds' | 'fails' | 'not finished';
  /** States that the search visited. */
  states: string;
  /** The memory that it took, in MB. */
  memory: string;
  /** The property that failed, as the model names it, or why the search didn't finish. */
  reason: string;
}

const CHECKS: readonly Check[] = [
  ...checks('submission', 'holds', {
    base: '',
    attempts: '-DMAXA=3',
    network: '-DNETMAX=1 -DMAXA=3',
    days: '-DDAYS -DMAXA=3',
    damaged: '-DDMG',
    'damaged-attempts': '-DDMG -DMAXA=3',
    rollback: '-DRB=1',
    'rollback-days': '-DRB=1 -DDAYS',
    'rollback-attempts': '-DRB=1 -DMAXA=3',
    'rollback-damaged': '-DRB=1 -DDMG',
    'rollback-any-one-charge': '-DRB=2 -DNOP2 -DDAYS',
    keys: '-DKEYS',
    'keys-rollback': '-DKEYS -DRB=1',
    'stop-before-send': '-DTOCTOU -DNOP4',
    copied: '-DCOPY=1 -DMAXA=3',
    'copied-rollback': '-DCOPY=1 -DRB=1',
    slow: '-DSLOW -DMAXA=3',
    'slow-rollback': '-DSLOW -DRB=1',
    'claim-of-a-check': '-DCLAIMEND',
  }),
  ...checks('claims', 'holds', {
    names: '-DNW=3',
    'names-killed': '-DNW=3 -DKILLS=2',
    'names-beside': '-DNW=2 -DBESIDE -DKILLS=1',
    'names-beside-three': '-DNW=3 -DK=2 -DBESIDE',
    'names-late': '-DNW=2 -DLATE -DBESIDE -DKILLS=1',
    'names-late-three': '-DNW=3 -DK=2 -DLATE',
    'names-damaged': '-DNW=2 -DDMG -DBESIDE',
    'names-gone': '-DNW=2 -DGONE -DKILLS=1',
    'names-set-back': '-DNW=2 -DK=2 -DRB',
  }),
  // The limits under "Beyond us".
  ...checks('submission', 'fails', {
    'LIMIT-stop-before-send': '-DTOCTOU',
    'LIMIT-rollback-while-priced': '-DRB=2',
    'LIMIT-copied-while-sending': '-DCOPY=2 -DNOP7',
  }),
  // Without one of the rules.
  ...checks('submission', 'fails', {
    M_CAS: '-DM_CAS',
    M_OVERTAKEN: '-DM_OVERTAKEN',
    M_GATE: '-DM_GATE',
    M_RECHECK: '-DM_RECHECK',
    M_SLOW: '-DTOCTOU -DNOP4 -DM_SLOW',
    M_LOOKFIRST: '-DM_LOOKFIRST',
    M_NOLOOK: '-DM_NOLOOK',
    'M_NOLOOK-rollback': '-DRB=1 -DNOP4 -DM_NOLOOK',
    M_RELOOK: '-DM_RELOOK',
    M_OTHERLOOK: '-DKEYS -DM_OTHERLOOK',
    M_COPY: '-DCOPY=1 -DM_COPY',
    M_COPYEND: '-DCOPY=1 -DM_COPYEND',
    M_COPYLATER: '-DCOPY=1 -DMAXA=3 -DM_COPYLATER',
    M_COPYSKIP: '-DCOPY=1 -DM_COPYSKIP',
    'M_COPYSKIP-rollback': '-DCOPY=1 -DRB=1 -DNOP7 -DM_COPYSKIP',
    M_WORD: '-DRB=1 -DM_WORD',
    M_ENDSENT: '-DM_ENDSENT',
    M_ENDLOOK: '-DRB=1 -DM_ENDLOOK',
    M_STALEREF: '-DM_STALEREF',
    M_NC: '-DM_NC',
    M_15MIN: '-DM_15MIN',
    M_2CHECKS: '-DM_2CHECKS',
    M_409: '-DSLOW -DM_409',
    M_CHARGE: '-DM_CHARGE',
    M_23H: '-DDAYS -DM_23H',
    M_KEY: '-DKEYS -DM_KEY',
    M_DAMAGE: '-DDMG -DM_DAMAGE',
  }),
  ...checks('claims', 'fails', {
    M_EXCLUSIVE: '-DNW=2 -DM_EXCLUSIVE',
    M_NEXT: '-DNW=2 -DM_NEXT',
    M_OPEN: '-DNW=2 -DKILLS=1 -DM_OPEN',
    M_GAP: '-DNW=2 -DGONE -DM_GAP',
    M_SAME: '-DNW=2 -DRB -DKILLS=1 -DM_SAME',
    'M_DAMAGE-names': '-DNW=2 -DDMG -DM_DAMAGE',
  }),
  // The longest search.
  ...checks('submission', 'holds', { 'three-windows': '-DNW=3 -DMAXA=1' }),
];

/** @param flags of each check, by its name */
function checks(
  model: Check['model'],
  expected: Check['expected'],
  flags: Readonly<Record<string, string>>,
): Check[] {
  return Object.entries(flags).map(([name, value]) => ({ name, model, flags: value, expected }));
}

/** The assertions, as Spin prints them. The first that is found counts. */
const PROPERTIES = [
  ['P1', 'charges<=1'],
  ['P2', 'exists&&'],
  ['P4', 'unlooked'],
  ['P3', 'hi.stage'],
  ['P5', 'pricing>0'],
  ['P6', 'charges>0'],
  ['P7', 'copy!='],
  ['C1', 'knewOf'],
  ['C2', 'myLife'],
] as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { memory: { type: 'string', default: '2000' } },
    allowPositionals: true,
  });
  const chosen = CHECKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const names = CHECKS.map(({ name }) => name);
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new SetUpError(`No check has the name ${unknown.join(' ')}. There are:\n${names.join(' ')}`);
  if (!(Number(values.memory) > 0)) throw new SetUpError('--memory is a number of megabytes.');
  for (const tool of ['spin', 'gcc'])
    if (spawnSync(tool, ['-V'], { stdio: 'ignore' }).error !== undefined)
      throw new SetUpError(`${tool} is missing: install the package "${tool}" of Debian or Ubuntu.`);

  const unexpected: Check[] = [];
  for (const check of chosen) {
    const beganMs = performance.now();
    const { result, states, memory, reason } = await search(check, Number(values.memory));
    const isExpected = result === check.expected;
    if (!isExpected) unexpected.push(check);
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    const verdict = isExpected ? `${result}, as expected` : `${result}, UNEXPECTED`;
    const size = `${states.padStart(9)} states ${memory.padStart(5)} MB ${String(seconds).padStart(4)} s`;
    process.stdout.write(`${check.name.padEnd(28)}${verdict.padEnd(26)}${size}  ${reason}\n`);
  }
  process.stdout.write(`${chosen.length - unexpected.length} as expected, ${unexpected.length} not\n`);
  if (unexpected.length > 0) process.exitCode = 1;
}

/** Searches all states of a model. Keeps its files in `test-results/model` if the result isn't as expected. */
async function search({ name, model, flags, expected }: Check, memoryMb: number): Promise<Outcome> {
  const cwd = path.join(results, 'model', name);
  await rm(cwd, { recursive: true, force: true });
  await mkdir(cwd, { recursive: true });
  const source = `${model}.pml`;
  await copyFile(path.join(import.meta.dirname, source), path.join(cwd, source));
  const options = { cwd, timeoutMs: LIMIT_MS, output: 'hide' } as const;
  await run('spin', [...flags.split(' ').filter(Boolean), '-a', source], options);
  // A search that fails ends early: an optimized program would take longer to compile.
  const level = expected === 'fails' ? '-O0' : '-O1';
  const defines = ['-DSAFETY', '-DCOLLAPSE', `-DMEMLIM=${memoryMb}`];
  await run('gcc', [level, '-w', ...defines, '-o', 'pan', 'pan.c'], options);
  const outcome = read(await run(path.join(cwd, 'pan'), [`-m${MOST_STEPS}`, '-w24', '-n'], options));
  if (outcome.result === expected) await rm(cwd, { recursive: true });
  return outcome;
}

/** Reads the output of a search. A deadlock is no failed assertion, so it is never as expected. */
function read(output: string): Outcome {
  const errors = /errors: (\d+)/.exec(output)?.[1];
  const states = /(\d+) states, stored/.exec(output)?.[1] ?? '?';
  const memory = /(\d+)(?:\.\d+)?\s+total actual memory usage/.exec(output)?.[1] ?? '?';
  const limit = /max search depth too small|MEMLIM|out of memory/.exec(output)?.[0];
  const reason = /^pan:\d+: (.+?)(?: \(at depth \d+\))?$/m.exec(output)?.[1] ?? '';
  if (errors === '1' && reason.startsWith('assertion violated')) {
    const property = PROPERTIES.find(([, text]) => reason.includes(text))?.[0];
    return { result: 'fails', states, memory, reason: property ?? reason };
  }
  if (errors === '0' && limit === undefined) return { result: 'holds', states, memory, reason };
  return { result: 'not finished', states, memory, reason: limit ?? reason };
}

main().catch(fail);
