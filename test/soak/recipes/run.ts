// `npm run test:recipes`: runs the scripts that compare an adapter with its base model, with python3, and reads their answers as the page
// does. Servers and, where they aren't installed, PEFT and transformers are stand-ins. Not part of `npm test`, which needs no Python.
import '../../helpers/memoryFolder.ts';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspectionReport } from '../../../src/core/adapters/inspect.ts';
import { recipesOf, type Tool } from '../../../src/core/adapters/recipes.ts';
import type { AnswerRow } from '../../../src/core/answers/answerRow.ts';
import { readAnswers } from '../../../src/core/answers/answersFile.ts';
import { compareScores } from '../../../src/core/answers/comparison.ts';
import { answersBeside, expectedRows, lineInHoldOut } from '../../../src/core/answers/filesBeside.ts';
import { scoreRow } from '../../../src/core/answers/scores.ts';
import { sampleAdapter } from '../../helpers/adapters/sampleAdapter.ts';
import { ModelServer, type Fault } from './modelServer.ts';

const BASE = 'acme/base-1b';
const folder = mkdtempSync(path.join(tmpdir(), 'recipes-'));
/** A name with the special characters of Python strings. */
const data = path.join(folder, 'it\'s "data" \\n {x}');
const [holdOut, answersFile] = ['train.holdout.jsonl', 'train.holdout.my-run.answers.jsonl'].map((name) =>
  path.join(data, name),
) as [string, string];
const adapter = path.join(data, 'my run');

const rowOf = (question: string, expected = '{"of":"x"}') =>
  JSON.stringify({
    messages: [
      { role: 'system', content: 'Add\u2028 Grüße.' },
      { role: 'user', content: question },
      { role: 'assistant', content: expected },
    ],
  });
/** Rows of a chat. The scripts ask the first 50 that can be asked. */
const questions = Array.from({ length: 60 }, (_, at) => `${at}+${at}?`);
const others: Readonly<Record<number, string>> = {
  5: '{"text":"a"}',
  7: '{"messages":[{"role":"user","content":"no answer"}]}',
  9: '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[]}]}',
  11: '{"messages":[]}',
};
const asked = questions.filter((_, at) => others[at] === undefined).slice(0, 50);
const NOT_ASKED = 'Not asked: 2 (no prompt with an answer)\nNot asked: 2 (no answer at the end)\n';

function writeHoldOut(): void {
  const lines = questions.map((question, at) => others[at] ?? rowOf(question));
  // A byte order mark, line ends of Windows, and a blank line.
  writeFileSync(holdOut, `\ufeff${lines.slice(0, 20).join('\r\n')}\r\n\n${lines.slice(20).join('\n')}`);
}

const hasPeft = spawnSync('python3', ['-c', 'import torch, peft, transformers, accelerate']).status === 0;
const MODULES = path.join(import.meta.dirname, 'modules');

async function scriptOf(tool: Tool): Promise<string> {
  const { tools } = recipesOf(await inspectionReport(adapter), {
    folder: adapter,
    platform: process.platform,
    holdOut,
    run: 'run-1',
  });
  const text = tools.find((one) => one.tool === tool)?.blocks.at(-1);
  assert.equal(text?.purpose, 'compare');
  assert.deepEqual(text.placeholders, []);
  return text.text;
}

/** Saves a script and runs it, as a user does. */
async function run(text: string, modules?: string): Promise<{ status: number | null; errors: string }> {
  const script = path.join(folder, 'compare.py');
  writeFileSync(script, text);
  const compiled = spawnSync('python3', ['-m', 'py_compile', script], { encoding: 'utf8' });
  assert.equal(compiled.status, 0, compiled.stderr);
  // A proxy that would get the rows if the script used it.
  const env = {
    ...process.env,
    PYTHONPATH: modules,
    PYTHONDONTWRITEBYTECODE: '1',
    http_proxy: 'http://127.0.0.1:9',
  };
  const child = spawn('python3', [script], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, errors };
}

const lines = () => (existsSync(answersFile) ? readFileSync(answersFile, 'utf8').split('\n').length - 1 : 0);

interface Expected {
  rows?: number;
  /** Runs a script that can't go on, and returns how it ends. */
  error?: RegExp;
  fits?: (row: AnswerRow, at: number) => boolean;
  isInactive?: boolean;
}

const EXPECTED: Readonly<Record<Fault | 'none', Expected>> = {
  none: {},
  loading: {},
  contaminated: { fits: ({ base, adapter: other }) => base === other, isInactive: true },
  'cut-off': { fits: ({ ends }) => ends.base === 'length' && ends.adapter === undefined },
  empty: { fits: ({ base, ends }) => base === '' && ends.base === undefined },
  refusing: {
    fits: ({ base, ends }, at) => (at === 2) === (ends.base === 'error' && base.includes('too long')),
  },
  unnamed: { rows: 0, error: /AssertionError: .*no such model/ },
  silent: { rows: 0, error: /TimeoutError/ },
  gone: { rows: 3, error: /RemoteDisconnected|ConnectionResetError/ },
};

async function checkAnswers({ rows = asked.length, fits, isInactive = false }: Expected): Promise<void> {
  assert.equal(await answersBeside(path.join(data, 'train.prepared.jsonl')), answersFile);
  if (rows === 0) {
    assert.equal(readFileSync(answersFile, 'utf8'), '');
    return;
  }
  const read = await readAnswers(answersFile);
  assert.ok(typeof read === 'object');
  assert.deepEqual([read.leftOut, read.isCut, read.isBeingWritten], [{}, false, false]);
  assert.deepEqual(read.runs, ['run-1']);
  assert.deepEqual(
    read.rows.map(({ messages }) => messages.at(-1)?.text),
    asked.slice(0, rows),
  );
  for (const [at, row] of read.rows.entries()) {
    const [question, messages] = [asked[at], row.messages];
    assert.deepEqual(messages[0], { role: 'system', text: 'Add\u2028 Grüße.' });
    assert.equal(row.expected, '{"of":"x"}');
    const plain = () =>
      row.base === `The sum of ${question} is – 🙂\u2028` && row.adapter === `{"of":"${question}"}`;
    assert.ok(
      fits === undefined ? plain() && row.ends.base === undefined : fits(row, at),
      JSON.stringify(row),
    );
    if (at < 3) assert.equal(await lineInHoldOut(holdOut, messages), at + 1);
  }
  assert.equal(compareScores(read.rows.map(scoreRow), new Set()).isProbablyInactive, isInactive);
}

async function checkServer(tool: 'vllm' | 'llamacpp', fault: Fault | 'none'): Promise<void> {
  const names = tool === 'vllm' ? ([BASE, 'my-run'] as const) : undefined;
  const server = new ModelServer(fault === 'none' ? undefined : fault, names);
  rmSync(answersFile, { force: true });
  // The script asks both in turn, and writes each row before it asks the next one.
  server.onAnswer = () =>
    assert.equal(
      lines(),
      Math.floor(server.answered.length / 2) + (fault === 'refusing' && server.answered.length >= 4 ? 1 : 0),
    );
  const port = String(await server.listen());
  const text = (await scriptOf(tool)).replace(
    /"localhost", 80[08]0, timeout=600/,
    `"localhost", ${port}, timeout=${fault === 'silent' ? 1 : 600}`,
  );
  const { status, errors } = await run(text);
  server.close();
  const expected = EXPECTED[fault];
  assert.equal(status, expected.error === undefined ? 0 : 1, errors);
  if (expected.error !== undefined) assert.match(errors, expected.error);
  else {
    assert.equal(errors, `${NOT_ASKED}Answered: ${asked.length}, in ${answersFile}\n`);
    if (fault !== 'contaminated')
      assert.deepEqual(server.answered.slice(0, 4), ['base', 'adapter', 'base', 'adapter']);
  }
  await checkAnswers(expected);
}

/** Existing answers stay: the next file gets a number, and is found as the newest one. */
async function checkEarlier(): Promise<void> {
  const server = new ModelServer(undefined, [BASE, 'my-run']);
  const port = String(await server.listen());
  const text = (await scriptOf('vllm')).replace('"localhost", 8000', `"localhost", ${port}`);
  writeFileSync(answersFile, 'earlier');
  const second = answersFile.replace('my-run', 'my-run-2');
  const third = answersFile.replace('my-run', 'my-run-3');
  for (const file of [second, third]) {
    const { status, errors } = await run(text);
    assert.deepEqual([status, errors.endsWith(`in ${file}\n`)], [0, true], errors);
    assert.equal(await answersBeside(path.join(data, 'train.prepared.jsonl')), file);
  }
  server.close();
  assert.equal(readFileSync(answersFile, 'utf8'), 'earlier');
  for (const file of [second, third]) rmSync(file);
}

const user = { role: 'user', content: '1+1?' };
const lamp = { name: 'lamp', parameters: { type: 'object', properties: {} } };
const call = { id: 'c', type: 'function', function: { name: 'lamp', arguments: '{"lamp":1}' } };
/** A row in each format of a dataset, all with the same question. */
const FORMS: Readonly<Record<string, object>> = {
  chat: { messages: [user, { role: 'assistant', content: '{"of":"x"}' }] },
  parts: {
    messages: [
      { role: 'user', content: [{ type: 'text', text: '1+1?' }] },
      { role: 'assistant', content: [{ type: 'text', text: '{"of":"x"}' }] },
    ],
  },
  pairs: { prompt: '1+1?', completion: '{"of":"x"}' },
  instruction: { instruction: '1', input: '+1?', output: '{"of":"x"}' },
  sharegpt: {
    conversations: [
      { from: 'human', value: '1+1?' },
      { from: 'gpt', value: '{"of":"x"}' },
    ],
  },
  question: { question: '1+1?', answer: '{"of":"x"}' },
  tools: {
    messages: [user, { role: 'assistant', content: null, tool_calls: [call] }],
    tools: [{ type: 'function', function: lamp }],
  },
  results: {
    messages: [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1+1?' },
      { role: 'assistant', content: '{"of":"x"}' },
    ],
  },
};

/** Asks each format with each tool; compares the fields of tool calls. */
async function checkForm(tool: 'vllm' | 'llamacpp' | 'peft', form: string): Promise<void> {
  const server = new ModelServer(undefined, tool === 'vllm' ? [BASE, 'my-run'] : undefined);
  const port = String(await server.listen());
  rmSync(answersFile, { force: true });
  writeFileSync(holdOut, `${JSON.stringify(FORMS[form])}\n`.repeat(10));
  const text = (await scriptOf(tool)).replace(/"localhost", 80[08]0/, `"localhost", ${port}`);
  const { status, errors } = await run(text, tool === 'peft' ? MODULES : undefined);
  server.close();
  writeHoldOut();
  assert.deepEqual([status, errors], [0, `Answered: 10, in ${answersFile}\n`], errors);
  const read = await readAnswers(answersFile);
  assert.ok(typeof read === 'object');
  const { measure, ahead, failed } = compareScores(read.rows.map(scoreRow), new Set());
  assert.deepEqual([read.rows.length, measure, failed], [10, 'fields', 0]);
  if (tool !== 'peft') assert.equal(ahead.adapter, form === 'tools' ? 10 : 0);
  rmSync(answersFile);
}

/** If there is nothing to ask, the script prints one sentence and writes no file. */
async function checkNothing(): Promise<void> {
  rmSync(answersFile, { force: true });
  writeFileSync(holdOut, '{"text":"a"}\n');
  for (const tool of ['vllm', 'llamacpp', 'peft'] as const) {
    const { status, errors } = await run(await scriptOf(tool));
    assert.equal(status, 1);
    assert.match(
      errors,
      /^Not asked: 1 .*\nNothing was asked: .* has no row with a prompt and an answer\.\n$/,
    );
    assert.ok(!existsSync(answersFile));
  }
  writeHoldOut();
}

/** PEFT itself, with a model of two layers, if it is installed. */
async function checkPeft(): Promise<void> {
  rmSync(answersFile, { force: true });
  if (!hasPeft) {
    const { status, errors } = await run(await scriptOf('peft'), MODULES);
    assert.equal(status, 0, errors);
    return checkAnswers({
      fits: ({ base, ends }, at) =>
        (at === 2) === (ends.base === 'length' && base.length === 1024) &&
        (at === 4) === (ends.base === 'error' && base.includes('no such row')),
    });
  }
  const [base, trained] = [path.join(folder, 'base'), path.join(folder, 'trained')];
  const rows = asked.slice(0, 5);
  writeFileSync(holdOut, rows.map((question) => rowOf(question)).join('\n'));
  const made = spawnSync(
    'python3',
    [path.join(import.meta.dirname, 'tinyModel.py'), base, trained, holdOut],
    { encoding: 'utf8' },
  );
  assert.equal(made.status, 0, made.stderr);
  const alone = made.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string);
  const text = (await scriptOf('peft'))
    .replaceAll(JSON.stringify(BASE), JSON.stringify(base))
    .replace(JSON.stringify(adapter), JSON.stringify(trained));
  const { status, errors } = await run(text);
  assert.equal(status, 0, errors);
  const read = await readAnswers(answersFile);
  assert.ok(typeof read === 'object');
  assert.deepEqual(
    read.rows.map((row) => row.base),
    alone,
    'switched off, the adapter leaves the base model',
  );
  assert.ok(
    read.rows.every((row) => row.adapter !== row.base),
    'the adapter is active',
  );
}

/** The script that renames tensors writes an adapter that is complete, with the same values. */
async function checkRenaming(): Promise<void> {
  const names: Record<string, (name: string) => string> = {
    wrapped: (name) => `module._orig_mod.${name.replace('self_attn', '_fsdp_wrapped_module.self_attn')}`,
    'state dict': (name) => name.replace('.weight', '.default.weight'),
    bare: (name) => name.replace('base_model.model.', ''),
    twice: (name) => `thinker.base_model.model.${name}`,
  };
  const isTorchMissing = spawnSync('python3', ['-c', 'import safetensors.torch']).status !== 0;
  for (const [title, change] of Object.entries(names)) {
    const wrong = path.join(data, title);
    const files = sampleAdapter({ tensors: (all) => all.map((one) => ({ ...one, name: change(one.name) })) });
    mkdirSync(wrong);
    for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(wrong, name), bytes);
    const report = await inspectionReport(wrong);
    const { tools, mend } = recipesOf(report, { folder: wrong, platform: process.platform });
    assert.deepEqual(tools, []);
    const text = mend.at(-1)?.text ?? '';
    assert.ok(text.split('\n').length <= 15);
    const modules = isTorchMissing ? MODULES : undefined;
    const { status, errors } = await run(text, modules);
    assert.equal(status, 0, errors);
    const [renamed, good] = await Promise.all([`${wrong}-renamed`, adapter].map(inspectionReport));
    assert.deepEqual([renamed?.verdict, renamed?.problems], [{ code: 'adapter' }, []]);
    assert.deepEqual(renamed?.weights, good?.weights);
    // A second run replaces nothing.
    assert.match((await run(text, modules)).errors, /FileExistsError/);
  }
}

mkdirSync(adapter, { recursive: true });
for (const [name, bytes] of Object.entries(sampleAdapter())) writeFileSync(path.join(adapter, name), bytes);
writeHoldOut();
assert.equal(await expectedRows(holdOut), undefined);
const checks: [name: string, check: () => Promise<void>][] = [
  ...(['vllm', 'llamacpp'] as const).flatMap((tool) =>
    (Object.keys(EXPECTED) as (Fault | 'none')[]).map((fault): [string, () => Promise<void>] => [
      `${tool}, ${fault}`,
      () => checkServer(tool, fault),
    ]),
  ),
  ['names of tensors', checkRenaming],
  ['answers that exist', checkEarlier],
  ['nothing to ask', checkNothing],
  ...Object.keys(FORMS).flatMap((form) =>
    (hasPeft ? (['vllm', 'llamacpp'] as const) : (['vllm', 'llamacpp', 'peft'] as const)).map(
      (tool): [string, () => Promise<void>] => [`${tool}, ${form}`, () => checkForm(tool, form)],
    ),
  ),
  [`peft, ${hasPeft ? 'installed' : 'not installed: stand-ins of peft and transformers'}`, checkPeft],
];
let failed = 0;
for (const [name, check] of checks)
  try {
    await check();
    process.stdout.write(`passed: ${name}\n`);
  } catch (error) {
    failed++;
    process.stdout.write(`FAILED: ${name}\n${String(error instanceof Error ? error.stack : error)}\n`);
  }
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
