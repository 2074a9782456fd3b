import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Provides a new folder for each test of the `describe` that calls this, and removes them after its last test. */
export function useFolder(): () => string {
  const made: string[] = [];
  beforeEach(() => void made.push(mkdtempSync(path.join(tmpdir(), 'unit-test-'))));
  after(async () => {
    for (const folder of made) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => made.at(-1)!;
}
