// Loaded before the unit tests, and puts their folders in an in-memory file system with enough room, if there is one: the journal
// and SQLite sync every change to the disk, which a test that kills processes cannot verify anyway.
import { statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 4e9;

try {
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize >= ROOM_BYTES) process.env['TMPDIR'] ??= MEMORY;
} catch {
  // Not available on this system.
}
