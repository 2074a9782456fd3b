import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Draft, Intent } from '../../../src/core/submission/intent.ts';
import { newMarker, withMarker } from '../../../src/core/runs/marker.ts';
import type { CellSpec } from './cellSpec.ts';
import type { Stage } from './stage.ts';

/** The folder of a cell: the dataset, and the journal as others find it on the disk. */
export class CellFolder {
  readonly path: string;
  readonly #dataset: Stage['dataset'];
  readonly #datasetFile: string;

  constructor(folder: string, dataset: Stage['dataset']) {
    this.path = folder;
    this.#dataset = dataset;
    this.#datasetFile = path.join(folder, 'train.jsonl');
  }

  get journal(): string {
    return path.join(this.path, 'journal');
  }

  async writeDataset(): Promise<void> {
    await writeFile(this.#datasetFile, this.#dataset.text);
  }

  /** What the person chooses: each time the same, but for the marker. */
  draft(isMarked: boolean): Draft {
    const marker = newMarker();
    const { sha256, sizeBytes, rows } = this.#dataset;
    return {
      dataset: { path: this.#datasetFile, filename: 'train.jsonl', sizeBytes, sha256, rows },
      model_id: 'qwen3-8b',
      label: isMarked ? withMarker('first try', marker) : 'first try',
      ...(isMarked && { marker }),
      priority_processing: false,
      consents: {
        model_terms: { accepted_at: '2031-05-03T12:00:00Z', urls: ['https://models.test/terms'] },
        data_policy: { accepted_at: '2031-05-03T12:00:00Z' },
      },
    };
  }

  /** Another file at the dataset's path, or none. */
  async changeDataset(to: NonNullable<CellSpec['datasetBecomes']>): Promise<void> {
    const { text } = this.#dataset;
    const texts = {
      other: text.replaceAll('home', 'hell'),
      longer: `${text}{}\n`,
      shorter: text.slice(0, -1),
    };
    if (to === 'gone') await rm(this.#datasetFile);
    else await writeFile(this.#datasetFile, texts[to]);
  }

  /** An intent or a receipt, as the disk has it. */
  intent(id: string, folder: 'intents' | 'receipts' = 'intents'): Intent | undefined {
    const file = path.join(this.journal, folder, `${id}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Intent) : undefined;
  }

  /** The ids of the open intents. */
  openIds(): string[] {
    const folder = path.join(this.journal, 'intents');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []));
  }

  /** Something takes the lock files away: a tool that cleans up, a folder that is synchronised. */
  async removeLocks(): Promise<void> {
    const folder = path.join(this.journal, 'leases');
    for (const name of await readdir(folder))
      if (!name.startsWith('create')) await rm(path.join(folder, name));
  }

  /** Files beside intents and receipts, the locks of what is open, and the notices of charges that are to be told; ids are left out. */
  strayFiles(): string[] {
    return filesIn(this.journal)
      .map((file) => path.relative(this.journal, file))
      .filter((name) => {
        const [, id] = /^leases\/([0-9a-f-]{36})\.lock$/.exec(name) ?? [];
        if (id !== undefined) return !existsSync(path.join(this.journal, 'intents', `${id}.json`));
        const [, charged] = /^notices\/([0-9a-f-]{36})$/.exec(name) ?? [];
        if (charged !== undefined)
          return !['intents', 'receipts'].some((folder) =>
            existsSync(path.join(this.journal, folder, `${charged}.json`)),
          );
        return !/^(intents|receipts)\/[0-9a-f-]{36}\.json$/.test(name) && name !== 'leases/create.lock';
      })
      .map((name) => name.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>'));
  }

  /** Everything that was written into the journal. */
  texts(): [name: string, text: string][] {
    return filesIn(this.journal).map((file) => [path.basename(file), readFileSync(file, 'utf8')]);
  }
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}
