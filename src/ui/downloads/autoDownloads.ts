import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { CancelledError } from '../../core/base/errors.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { tellDownloaded } from './downloadDialogs.ts';
import { autoDownloadFolder } from '../shared/autoDownloadFolder.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { downloadWhenCompleteSetting } from '../shared/settings.ts';
import { runName } from './messages.ts';
import { tellAutoDownloadFailed } from './noticeMessages.ts';
import { DiskError, onDisk } from '../../core/base/diskError.ts';
import {
  runFolderName,
  adapterFirst,
  localAdapter,
  isAdapter,
  isSoundAdapter,
  placeIn,
} from '../../core/downloads/downloadTarget.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Moved } from '../../core/runs/runStore.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';

interface Parts {
  sessions: Sessions;
  downloads: Downloads;
  told: Pick<NotificationLedger, 'claim'>;
  log: Pick<Log, 'error'>;
  beActive: (accountId: string) => Promise<boolean>;
  /** Whether notifications are turned down: then only what went wrong is told. */
  isQuiet: () => boolean;
}

/**
 * Downloads the adapter of a run that has finished into the download directory, where the person wants that: in one window, one
 * after the other, and never over a file.
 */
export class AutoDownloads implements Disposable {
  readonly #parts: Parts;
  readonly #subscription: Disposable;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#subscription = followActive(parts.sessions, (session) =>
      session === undefined
        ? []
        : [
            session.runs.onDidChange(({ moved }) => {
              for (const runId of becameAvailable(moved)) this.#enqueue(session, runId);
            }),
          ],
    );
  }

  dispose(): void {
    this.#disposed = true;
    this.#subscription.dispose();
  }

  #enqueue(session: Session, runId: string): void {
    if (autoDownloadFolder() !== undefined) this.#work = this.#work.then(() => this.#bring(session, runId));
  }

  /** Never rejects. */
  async #bring(session: Session, runId: string): Promise<void> {
    const { downloads, told, isQuiet } = this.#parts;
    const { account } = session;
    if (this.#disposed || downloadWhenCompleteSetting() !== 'always') return;
    try {
      if (!(await told.claim(account.id, runId, 'download-when-complete'))) return;
      await downloads.open(account.id);
      const isUnderWay = downloads.active.some(
        (download) =>
          download.accountId === account.id && download.runId === runId && isAdapter(download.artifactType),
      );
      if (isUnderWay || localAdapter(downloads.records(account.id), runId) !== undefined) return;
      const directory = autoDownloadFolder();
      // It stood when the run finished, so that the download was not offered.
      if (directory === undefined) throw new DiskError({ name: 'Error', message: '', code: 'ENOENT' });
      const record = await this.#download(session, runId, directory);
      // A doubt is reported all the same.
      if (record !== undefined && !(isQuiet() && isSoundAdapter(record)))
        tellDownloaded([record], account.kind === 'sandbox');
    } catch (error) {
      this.#tell(session, runId, error);
    }
  }

  async #download(session: Session, runId: string, directory: string): Promise<DownloadRecord | undefined> {
    const { downloads } = this.#parts;
    const [artifact] = adapterFirst(await downloads.list(session, runId));
    if (artifact === undefined) return undefined;
    // The list has no labels, and the folder is called after it.
    if (session.runs.label(runId) === undefined) await session.runs.loadDetail(runId).catch(() => undefined);
    const folder = path.join(directory, runFolderName(session.runs.label(runId), runId));
    // Not with what stands above: a directory that went meanwhile is a drive that was taken away.
    await onDisk(mkdir(folder).catch(unlessThere));
    try {
      const { name, other } = placeIn(folder, artifact, runId, downloads.active);
      return await downloads.start({ session, runId, artifact, target: path.join(folder, other ?? name) });
    } finally {
      // It stays where something is in it.
      await rmdir(folder).catch(() => undefined);
    }
  }

  #tell(session: Session, runId: string, error: unknown): void {
    const { beActive, log, sessions } = this.#parts;
    if (error instanceof CancelledError) return;
    log.error('auto-download', error);
    if (sessions.isToldByState(error)) return;
    const { account, runs } = session;
    tellAutoDownloadFailed(runName(withoutMarker(runs.label(runId) ?? ''), runId), error, () => {
      void beActive(account.id).then((isActive) => {
        if (isActive) void vscode.commands.executeCommand(COMMANDS.downloadAdapter, runId);
      });
    });
  }
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

/** Runs whose artifacts became available while they were known: not those that were available when they were first seen. */
function becameAvailable(moved: readonly Moved[]): string[] {
  return moved
    .filter(({ before, after }) => !before.artifacts_available && after.artifacts_available)
    .map(({ runId }) => runId);
}
