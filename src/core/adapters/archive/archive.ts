import type { Container } from '../report.ts';

/** A regular file of an archive or folder. */
export interface Member {
  /** Safe, with `/`. */
  name: string;
  sizeBytes: number;
  /**
   * Its bytes from the start; each piece is only good until the next is asked for. May be left early; read to its end, it
   * is checked. That of a tar can be read once, before the next member is asked for.
   * @throws BrokenArchiveError, CancelledError
   */
  open(): AsyncGenerator<Buffer, void>;
}

export interface Archive {
  container: Container;
  /** Of the file, or of the files of the folder. */
  sizeBytes: number;
  /** The members in their order; each call reads from the start. @throws BrokenArchiveError, CancelledError */
  members(): AsyncIterable<Member> | Iterable<Member>;
  close(): Promise<void>;
}

export async function readThrough(all: AsyncGenerator<unknown, void>): Promise<void> {
  while ((await all.next()).done !== true);
}

/** All bytes of pieces, each of which is only good until the next is asked for. */
export async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}
