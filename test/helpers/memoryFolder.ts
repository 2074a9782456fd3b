// Loaded before the unit tests. Puts their folders in an in-memory file system with enough room, if there is
// one. The journal and SQLite sync every change to the disk; tests that kill processes can't verify that
// anyway. Keeps compiled TypeScript files for the next thread or process that loads them.
import { statfsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 4e9;

try {
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize >= ROOM_BYTES) process.env['TMPDIR'] ??= MEMORY;
} catch {
  // Not available on this system.
}

// Threads and processes read the variable; this process has started without it.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '../../test-results/compiled');
enableCompileCache(process.env['NODE_COMPILE_CACHE']);
