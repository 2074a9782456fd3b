// The thread that reads a long first row and ends.
import { serveThread } from '../base/thread.ts';
import { kindIn, MAX_BYTES } from './answersFile.ts';

serveThread(
  (path: string) => kindIn(path, MAX_BYTES),
  () => undefined,
);
