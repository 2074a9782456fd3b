import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeTensors } from '../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter } from '../helpers/adapters/sampleAdapter.ts';
import { tarOf, zipOf } from '../helpers/adapters/support.ts';
import { chatRows } from '../helpers/chatRows.ts';

const MB = 1_000_000;
const RANK = 16;
/** Module sizes of an 8B model. */
const MODULES = {
  q_proj: [4096, 4096],
  k_proj: [4096, 1024],
  v_proj: [4096, 1024],
  o_proj: [4096, 4096],
} as const;

/** Writes BF16 adapters: 50 and 500 MB as ZIP, and the larger one also as tar.gz. */
export async function adapterFiles(folder: string) {
  const at = (name: string) => path.join(folder, name);
  const files = { small: at('small.zip'), large: at('large.zip'), packed: at('large.tar.gz') };
  const large = bigAdapter(500 * MB);
  await writeFile(files.small, zipOf(bigAdapter(50 * MB)));
  await writeFile(files.large, zipOf(large));
  await writeFile(files.packed, gzipSync(tarOf(large), { level: 1 }));
  return files;
}

/** An adapter of about `sizeBytes`, with values of either sign from 2^-9 to 2^-7 that repeat every 4 MiB. */
function bigAdapter(sizeBytes: number): Record<string, Buffer> {
  const block = randomBytes(4 * 1024 * 1024);
  for (let at = 1; at < block.length; at += 2) block[at] = (block[at]! & 0x80) | 0x3b;
  const tensors = [];
  for (let layer = 0, bytes = 0; bytes < sizeBytes; layer++)
    for (const [module, [inputs, outputs]] of Object.entries(MODULES))
      for (const [part, shape] of [
        ['lora_A', [RANK, inputs]],
        ['lora_B', [outputs, RANK]],
      ] as const) {
        const data = Buffer.alloc(2 * shape[0] * shape[1], block);
        bytes += data.length;
        const name = `base_model.model.model.layers.${layer}.self_attn.${module}.${part}.weight`;
        tensors.push({ name, dtype: 'BF16', shape, data });
      }
  return {
    ...sampleAdapter({ rank: RANK, modules: MODULES, layers: 0 }),
    'adapter_model.safetensors': writeTensors(tensors),
  };
}

/** Writes instruction rows of about `sizeBytes`, without faults. */
export async function instructionFile(folder: string, sizeBytes: number): Promise<string> {
  const file = path.join(folder, `instruction-${sizeBytes}.jsonl`);
  const handle = await open(file, 'w');
  const row = (at: number) =>
    JSON.stringify({
      instruction: `Say in one sentence what number ${at} is good for, and why — «${at % 97}».`,
      input: at % 3 === 0 ? `A context of some length. ${'It goes on. '.repeat(at % 40)}` : '',
      output: `Number ${at} is good for counting.\n${'It has more to say. '.repeat(at % 50)}`,
      id: at,
    });
  for (let at = 0, bytes = 0; bytes < sizeBytes; at += 1_000) {
    const text = `${Array.from({ length: 1_000 }, (_, index) => row(at + index)).join('\n')}\n`;
    bytes += (await handle.write(text)).bytesWritten;
  }
  await handle.close();
  return file;
}

/** Writes short chat rows, numbered from `first`. */
export async function shortFile(folder: string, first: number, rows: number): Promise<string> {
  const file = path.join(folder, `short-${first}-${rows}.jsonl`);
  const handle = await open(file, 'w');
  const row = (at: number) =>
    `{"messages":[{"role":"user","content":"Say ${at}"},{"role":"assistant","content":"${at}"}]}\n`;
  for (let at = 0; at < rows; at += 1_000)
    await handle.write(Array.from({ length: 1_000 }, (_, index) => row(first + at + index)).join(''));
  await handle.close();
  return file;
}

/** Writes chat rows of about `sizeBytes`, of which the fraction `faulty` has a fault. */
export async function chatFile(folder: string, sizeBytes: number, faulty: number): Promise<string> {
  const file = path.join(folder, `chat-${sizeBytes}-${faulty}.jsonl`);
  const handle = await open(file, 'w');
  let pieces: Buffer[] = [];
  let [waiting, written] = [0, 0];
  for (const { bytes } of chatRows(1, faulty)) {
    pieces.push(bytes, Buffer.from('\n'));
    waiting += bytes.length + 1;
    if (waiting < 4 * MB && written + waiting < sizeBytes) continue;
    await handle.write(Buffer.concat(pieces));
    written += waiting;
    [pieces, waiting] = [[], 0];
    if (written >= sizeBytes) break;
  }
  await handle.close();
  return file;
}

/** The repeated text of each worst case, and the text before and after. */
const WORST_CASES: Readonly<Record<string, readonly [text: string, before?: string, after?: string]>> = {
  'only newlines': ['\n'],
  'only `[`': ['['],
  'only `"`': ['"'],
  'only digits': ['4012888888881881'],
  'only `@`': ['@'],
  'one row': ['All of it is one value. ', '{"text":"', '"}\n'],
  // Without a target: the maximum number of rows, and a secret in each row.
  'rows of `{}`, no target': ['{}\n'],
  'e-mail addresses, no target': ['{"text":"write to someone@host.test"}\n'],
};

/** Writes the worst cases: files of repeated text that are hard for some part of a check. */
export async function worstCases(folder: string, sizeBytes: number) {
  const files: Record<string, { file: string; hasTarget: boolean }> = {};
  for (const [name, [text, before = '', after = '']] of Object.entries(WORST_CASES)) {
    const file = path.join(folder, `worst-${Object.keys(files).length}.jsonl`);
    const count = Math.floor((sizeBytes - before.length - after.length) / text.length);
    await writeFile(file, before + text.repeat(count) + after);
    files[name] = { file, hasTarget: !name.endsWith('no target') };
  }
  return files;
}

/** Writes a dataset to upload, which is not sparse because reading a hole costs nothing. */
export async function randomFile(folder: string, sizeBytes: number) {
  const file = path.join(folder, `${sizeBytes}.jsonl`);
  await writeFile(file, Buffer.alloc(sizeBytes, randomBytes(MB)));
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return { path: file, filename: 'dataset.jsonl', sizeBytes, sha256 };
}
