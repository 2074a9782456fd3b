// Loaded before the unit tests. Where the system has a file system in memory with room for them, their folders are there: the
// journal and SQLite wait for the disk at each change, and a test that kills a process could not tell whether they did.
import { statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 4e9;

try {
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize >= ROOM_BYTES) process.env['TMPDIR'] ??= MEMORY;
} catch {
  // Not on this system.
}
