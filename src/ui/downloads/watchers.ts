import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { DownloadRecord } from '../../core/downloads/downloads.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive } from '../../core/runs/sessions.ts';
import type { Services } from '../../services.ts';
import { CONTEXT_KEYS } from '../shared/ids.ts';
import { autoDownloadFolder } from '../shared/settings.ts';

// These watchers always run; the code that downloads or reminds is loaded at its first use.

/** The notices decide which window downloads or reminds. */
type Watched = Pick<Services, 'downloads' | 'log' | 'notices' | 'sandboxFault' | 'sessions'>;

/**
 * How long a reminder check waits after a change. By then, downloads that the change starts have begun, and
 * another notification may already say the same. `always`: the interval of checks without a change.
 */
const DELAYS_MS = { focused: 4_000, behind: 8_000, always: 30_000 } as const;

/** Downloads the adapters of runs that complete while watched, one after another, if the setting is `always`. */
export function downloadWhenComplete(services: Watched): Disposable {
  let queue = Promise.resolve();
  let isDisposed = false;
  const download = async (session: Session, runId: string) => {
    const { downloadAutomatically } = await import('./autoDownload.ts');
    if (!isDisposed) await downloadAutomatically(services, session, runId);
  };
  // A failure, even to load the code, must not end the queue.
  const enqueue = (session: Session, runId: string) => {
    queue = queue
      .then(() => download(session, runId))
      .catch((error: unknown) => services.log.error('auto-download', error));
  };
  const following = followActive(services.sessions, (session) => {
    if (session === undefined) return undefined;
    const changed = session.runs.onDidChange(({ moved }) => {
      for (const { runId, before, after } of moved)
        // Skip adapters that were available when their run was first seen.
        if (!before.artifacts_available && after.artifacts_available && autoDownloadFolder() !== undefined)
          enqueue(session, runId);
    });
    return [changed];
  });
  return {
    dispose: () => {
      isDisposed = true;
      following.dispose();
    },
  };
}

/**
 * Reminds the user, in one window, of adapters of the active account that will expire and are not on this
 * machine. The notification setting doesn't matter.
 */
export function remindBeforeExpiry(
  services: Watched,
  delaysMs: Readonly<Record<keyof typeof DELAYS_MS, number>> = DELAYS_MS,
): Disposable {
  return followActive(services.sessions, (session) => {
    if (session === undefined) return [];
    const ended = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let isChecking = false;

    async function check(): Promise<void> {
      if (session === undefined || session.isLocked || isChecking) return;
      if (!session.runs.rows?.some((row) => row.artifacts_expires_at !== undefined)) return;
      isChecking = true;
      try {
        const { remind } = await import('./reminders.ts');
        await remind(services, session, ended.signal);
      } catch (error) {
        services.log.error('reminders', error);
      } finally {
        isChecking = false;
      }
    }

    const plan = () => {
      if (ended.signal.aborted) return;
      const waitMs = vscode.window.state.focused ? delaysMs.focused : delaysMs.behind;
      timer ??= setTimeout(() => {
        timer = undefined;
        void check();
      }, waitMs).unref();
    };
    const interval = setInterval(() => void check(), delaysMs.always).unref();
    void services.downloads.open(session.account.id).then(plan);
    const focus = vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) plan();
    });
    const end = () => {
      ended.abort();
      clearTimeout(timer);
      clearInterval(interval);
    };
    return [session.runs.onDidChange(plan), focus, { dispose: end }];
  });
}

/**
 * Maintains the context key of downloaded files for the Explorer's menu. Checks whether the files still exist
 * when files are deleted or renamed here, or this window gets the focus.
 */
export function updateDownloadedFilesContext({ sessions, downloads }: Watched): Disposable {
  return followActive(sessions, (session) => {
    let shown: readonly DownloadRecord[] | undefined;
    const update = () => {
      const records = session === undefined ? [] : downloads.records(session.account.id);
      // Progress fires several times a second.
      if (records === shown) return;
      shown = records;
      // The menu compares them to paths in VS Code's notation.
      const paths = records.map(({ path }) => vscode.Uri.file(path).fsPath);
      void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.downloadedFiles, paths);
    };
    update();
    if (session === undefined) return [];
    const check = () => void downloads.check(session.account.id);
    return [
      downloads.onDidChange(update),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) check();
      }),
      vscode.workspace.onDidDeleteFiles(check),
      vscode.workspace.onDidRenameFiles(check),
    ];
  });
}
