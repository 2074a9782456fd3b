// The thread of a comparison that reads the file, and then waits as long as there is a file of its name and `.wait`.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readAnswers } from '../../src/core/answers/answersFile.ts';
import type { OpenJob, OpenProgress } from '../../src/core/answers/openAnswers.ts';
import { scoreRow } from '../../src/core/answers/scores.ts';
import { serveThread } from '../../src/core/base/thread.ts';

async function openSlowly({ path }: OpenJob, onProgress: (progress: OpenProgress) => void) {
  const { rows, ...file } = await readAnswers(path);
  onProgress({ kind: 'rows', rows: [...rows] });
  onProgress({ kind: 'read', file });
  onProgress({ kind: 'scored', fraction: 0.5 });
  while (existsSync(`${path}.wait`)) await delay(5);
  return rows.map((row) => scoreRow(row));
}

serveThread(openSlowly, () => undefined);
