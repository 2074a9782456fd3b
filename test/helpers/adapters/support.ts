import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { verifyArchive } from '../../../src/core/adapters/archive.ts';
import { openArchive } from '../../../src/core/adapters/archive/openArchive.ts';
import { inspectionReport } from '../../../src/core/adapters/inspect.ts';
import type { ArchiveFault, AdapterProblemCode, VerdictCode } from '../../../src/core/adapters/problems.ts';
import type { AdapterOnDisk } from '../../../src/core/adapters/recipeFacts.ts';
import { recipesOf, type Recipe, type RecipeBlock, type Tool } from '../../../src/core/adapters/recipes.ts';
import type { AdapterReport } from '../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from './sampleAdapter.ts';
import { writeTar } from './tarWriter.ts';
import { writeZip, type ZipPart } from './zipWriter.ts';

export const WORKER = path.join(import.meta.dirname, '../../../src/core/adapters/worker.ts');

/** The adapter's folder in recipes. */
export const FOLDER = '/home/jo/adapters/my run';

export type Refusal = `${VerdictCode} ${ArchiveFault}`;

/** A temporary folder for the tests of one file. */
export class Place {
  #folder = '';
  #count = 0;

  constructor() {
    before(async () => {
      this.#folder = await mkdtemp(path.join(tmpdir(), 'adapter-test-'));
    });
    after(() => rm(this.#folder, { recursive: true, force: true }));
  }

  get folder(): string {
    return this.#folder;
  }

  /** A new path in the folder, with an unknown extension. */
  name(): string {
    return path.join(this.#folder, `${++this.#count}.dat`);
  }

  async file(bytes: Buffer): Promise<string> {
    const file = this.name();
    await writeFile(file, bytes);
    return file;
  }

  async inspect(bytes: Buffer): Promise<AdapterReport> {
    return await inspectionReport(await this.file(bytes));
  }

  /** Returns what each tool gets by the rules alone, even if the sample has errors that hide all tools. */
  async recipes(options?: SampleOptions, at?: Partial<AdapterOnDisk>): Promise<Record<Tool, Recipe>> {
    const report = await this.inspect(zipOf(sampleAdapter(options)));
    const problems = report.problems.filter(({ severity }) => severity !== 'error');
    const { tools } = recipesOf({ ...report, problems }, { folder: FOLDER, platform: 'linux', ...at });
    return Object.fromEntries(tools.map((recipe) => [recipe.tool, recipe])) as Record<Tool, Recipe>;
  }

  /** Asserts the verdict of an inspection; a verification must reject the file only if it is broken. */
  async assertRefused(bytes: Buffer, refusal: Refusal, hint?: string): Promise<void> {
    const file = await this.file(bytes);
    const { code, fault = '' } = (await inspectionReport(file)).verdict;
    assert.equal(`${code} ${fault}`, refusal, hint);
    if (code === 'broken') await assert.rejects(verifyArchive(file), { code: fault }, hint);
    else assert.equal(await verifyArchive(file), 'unread', hint);
  }
}

/** All files of an archive, by name, as the code under test reads them. */
export async function readAll(file: string): Promise<Map<string, Buffer>> {
  const archive = await openArchive(file);
  const files = new Map<string, Buffer>();
  try {
    for await (const member of archive.members()) {
      const pieces: Buffer[] = [];
      for await (const piece of member.open()) pieces.push(Buffer.from(piece));
      files.set(member.name, Buffer.concat(pieces));
    }
  } finally {
    await archive.close();
  }
  return files;
}

export function zipOf(files: Readonly<Record<string, Buffer>>, options: Partial<ZipPart> = {}): Buffer {
  return writeZip(Object.entries(files).map(([name, data]) => ({ name, data, ...options })));
}

export function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  return writeTar(Object.entries(files).map(([name, data]) => ({ name, data })));
}

export function tarGzOf(files: Readonly<Record<string, Buffer>>): Buffer {
  return gzipSync(tarOf(files));
}

export function codesOf({ problems }: AdapterReport): AdapterProblemCode[] {
  return problems.map(({ code }) => code);
}

/** A block of a recipe; fails if there is none. */
export function block({ blocks }: Recipe, purpose: string): RecipeBlock {
  const found = blocks.find((one) => one.purpose === purpose);
  assert.ok(found !== undefined, `no ${purpose}`);
  return found;
}
