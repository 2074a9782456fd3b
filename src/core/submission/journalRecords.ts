import { mkdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../base/diskError.ts';
import { syncDirectory } from '../base/folders.ts';
import type { writeFileDurably } from '../storage/durableFile.ts';
import type { Lease } from '../storage/lease.ts';
import { decide, decisionAbout, decisionFile, decisionOf, withClosing } from './closing.ts';
import { SubmissionError } from './errors.ts';
import {
  intentText,
  hasBoundary,
  isCharged,
  isSettled,
  readJournalFile,
  runsOf,
  type ChargedReceipt,
  type Intent,
} from './intent.ts';
import { namesIn, type JournalFolder } from './journalFolder.ts';

/**
 * Owns writing the journal's files, one change at a time. The owner of an intent compares the file with what it last wrote
 * before it writes again: a lease can be lost without a trace.
 */
export class JournalRecords {
  readonly #directory: string;
  readonly #folder: JournalFolder;
  /** The folder with an empty file, named by the receipt's ID, for each charge that was not shown to the user. */
  readonly #notices: string;
  /** IDs of such charges whose file could not be written. Only this window knows about them. */
  readonly #unwrittenNotices = new Set<string>();
  readonly #write: typeof writeFileDurably;
  /** By ID, the texts that the file of an owned intent may have: after a failed write, the old or the new one. */
  readonly #written = new Map<string, readonly string[]>();

  constructor(directory: string, folder: JournalFolder, write: typeof writeFileDurably) {
    this.#directory = directory;
    this.#notices = path.join(directory, 'notices');
    this.#folder = folder;
    this.#write = write;
  }

  file(id: string): string {
    return path.join(this.#directory, `${id}.json`);
  }

  /** Returns the file whose lease its owner has. */
  lockFile(id: string): string {
    return path.join(this.#directory, 'leases', `${id}.lock`);
  }

  /** Writes a new intent. */
  add(intent: Intent): Promise<void> {
    return this.#put(intent);
  }

  /** Removes an intent of which nothing was sent. Never rejects. */
  async remove(id: string): Promise<void> {
    await rm(this.file(id), { force: true }).catch(() => undefined);
    await syncDirectory(this.#directory).catch(() => undefined);
    this.#folder.replace(id, undefined);
  }

  /** Reads an intent that this window has the lease of; undefined if it is settled, also just now, or gone. */
  async readOwned(id: string): Promise<Intent | undefined> {
    // Read first: if the file is replaced meanwhile, this owner's next write fails.
    const text = await readFile(this.file(id), 'utf8').catch(() => '');
    const found = await readJournalFile(this.file(id));
    let open = found.kind === 'intent' && !isSettled(found.intent) ? found.intent : undefined;
    if (open !== undefined) {
      this.#written.set(id, [text]);
      const decision = await decisionAbout(this.#directory, open);
      if (decision === 'closing') open = withClosing(open);
      // A window was killed before it wrote the end. What may have been charged stays open.
      if (decision === 'ended' && hasBoundary(open)) await this.reopen(open);
      else if (decision === 'ended') {
        const at = { localMs: Date.now() };
        await this.#put({ ...open, settled: { kind: 'not-charged', at } });
        return undefined;
      }
    }
    this.#folder.replace(id, open);
    return open;
  }

  /** As `Journal.write`. */
  async write(lease: Lease, intent: Intent): Promise<void> {
    await this.#put(intent, lease);
    // This may have overwritten the mark of a closing boundary that another owner is sending.
    if ((await decisionAbout(this.#directory, intent)) !== 'closing') return;
    await this.#folder.read().catch(() => undefined);
    throw new SubmissionError('not-owner');
  }

  /** As `Journal.close`. */
  async close(lease: Lease, before: Intent, intent: Intent): Promise<void> {
    await this.#put(intent, lease);
    if (!(await decide(decisionFile(this.#directory, before), 'closing')))
      throw new SubmissionError('not-owner');
    try {
      // Between comparing and writing, another window may have written.
      await this.#checkOwner(lease, intent.id);
    } catch (error) {
      await this.reopen(before);
      throw error;
    }
  }

  /** As `Journal.reopen`. */
  async reopen(before: Intent): Promise<void> {
    await rm(decisionFile(this.#directory, before), { force: true }).catch(() => undefined);
  }

  /** Writes an intent whose closing boundary no window sends afterwards. @throws as `write` */
  async end(lease: Lease, intent: Intent): Promise<void> {
    await this.#checkOwner(lease, intent.id);
    const file = decisionFile(this.#directory, intent);
    const isFirst = await decide(file, 'ended');
    if (!isFirst && (await decisionOf(file)) !== 'ended') throw new SubmissionError('not-owner');
    try {
      await this.#put(intent, lease);
    } catch (error) {
      if (isFirst) await this.reopen(intent);
      throw error;
    }
  }

  /** Writes a charge over anything but a charge, to which a further run is added. @returns undefined if it is known */
  async charge(receipt: ChargedReceipt): Promise<ChargedReceipt | undefined> {
    const found = await readJournalFile(this.file(receipt.id)).catch(() => undefined);
    const known = found?.kind === 'intent' && isSettled(found.intent) ? found.intent : undefined;
    const next = known !== undefined && isCharged(known) ? withFurtherRun(known, receipt.settled) : receipt;
    if (next === undefined) return undefined;
    // Written first, because a notice without a receipt is ignored.
    await this.#note(next.id).catch(() => this.#unwrittenNotices.add(next.id));
    await this.#put(next);
    return next;
  }

  /** Returns the IDs of charges that were not shown to the user. Never rejects. */
  async notices(): Promise<ReadonlySet<string>> {
    const written = await namesIn(this.#notices).catch(() => []);
    return new Set([...written, ...this.#unwrittenNotices]);
  }

  /** Never rejects: at worst the charge is shown again. */
  async removeNotice(id: string): Promise<void> {
    this.#unwrittenNotices.delete(id);
    await unlink(path.join(this.#notices, id)).catch(() => undefined);
  }

  async #note(id: string): Promise<void> {
    await mkdir(this.#notices, { recursive: true, mode: 0o700 });
    await writeFile(path.join(this.#notices, id), '', { mode: 0o600 });
  }

  /**
   * Whether the file is as this owner wrote it. The lease alone proves nothing: POSIX drops it when anything in this
   * process closes the lock file.
   * @throws SubmissionError `not-owner`, and file system errors
   */
  async #checkOwner(lease: Lease, id: string): Promise<void> {
    if (lease.file !== this.lockFile(id) || !lease.isHeld()) throw new SubmissionError('not-owner');
    const text = await readFile(this.file(id), 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text !== undefined && this.#written.get(id)?.includes(text) === true) return;
    await this.#folder.read().catch(() => undefined);
    throw new SubmissionError('not-owner');
  }

  /** @param lease of its owner; undefined for what is written whoever owns it */
  async #put(intent: Intent, lease?: Lease): Promise<void> {
    const { text, intent: asRead } = intentText(intent);
    const written = this.#written.get(intent.id) ?? [];
    if (lease !== undefined) await this.#checkOwner(lease, intent.id);
    try {
      // As late as possible, again: a charge that the second of two owners writes meanwhile must not be replaced.
      const mayReplace = async () => {
        if (lease !== undefined) await this.#checkOwner(lease, intent.id);
        this.#written.set(intent.id, [text, ...written]);
      };
      await this.#write(this.file(intent.id), text, mayReplace);
      if (isSettled(asRead)) this.#written.delete(intent.id);
      else this.#written.set(intent.id, [text]);
    } catch (error) {
      // The write may have failed after the new file was already in place.
      await this.#folder.read().catch(() => undefined);
      throw error;
    }
    this.#folder.replace(intent.id, isSettled(asRead) ? undefined : asRead);
  }
}

/** Returns the receipt with a further run of the same marker; undefined if it has that run. */
function withFurtherRun(
  { settled, ...intent }: ChargedReceipt,
  { run }: ChargedReceipt['settled'],
): ChargedReceipt | undefined {
  if (runsOf(settled).some(({ run_id }) => run_id === run.run_id)) return undefined;
  return { ...intent, settled: { ...settled, furtherRuns: [...(settled.furtherRuns ?? []), run] } };
}
