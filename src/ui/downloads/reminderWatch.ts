import * as vscode from 'vscode';
import { ServiceError } from '../../core/api/errors.ts';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { instantOf } from '../../core/base/instant.ts';
import { COMMANDS } from '../shared/ids.ts';
import { quotedRunName } from './messages.ts';
import { tellExpiring } from './noticeMessages.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { localAdapter, isAdapter } from '../../core/downloads/downloadTarget.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import {
  dueReminders,
  nextReminderInMs,
  type DueReminder,
  type ExpiringRun,
} from '../../core/downloads/reminders.ts';
import { serviceNowMs } from '../../core/runs/serviceClock.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';

/** It is looked anew this often at least: a timer stands still while the machine sleeps, and clocks are set. */
const LOOK_AGAIN_MS = 10 * 60_000;
/** How long after a change is looked: the window in front tells before the others. */
interface Patience {
  focused: number;
  behind: number;
}
/** Downloads that a change sets off have begun by then. */
const SETTLED_MS: Readonly<Patience> = { focused: 2_000, behind: 5_000 };

interface Parts {
  sessions: Sessions;
  downloads: Pick<Downloads, 'active' | 'open' | 'records'>;
  told: Pick<NotificationLedger, 'claim'>;
  beActive: (accountId: string) => Promise<boolean>;
}

/**
 * Reminds, once for all windows, of adapters of the active account that are not on this machine and that the service will soon
 * keep no more. A loss is told also where notifications are turned down.
 */
export class ReminderWatch implements Disposable {
  readonly #parts: Parts;
  readonly #settledMs: Patience;
  readonly #subscriptions: Disposable[];
  readonly #settled = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Infinity;
  #isLooking = false;
  #disposed = false;

  constructor(parts: Parts, settledMs: Patience = SETTLED_MS) {
    this.#parts = parts;
    this.#settledMs = settledMs;
    this.#subscriptions = [
      followActive(parts.sessions, (session) => {
        if (session === undefined) return [];
        void parts.downloads.open(session.account.id).then(() => this.#changed());
        return [session.runs.onDidChange(() => this.#changed()), { dispose: () => this.#stop() }];
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) this.#changed();
      }),
    ];
  }

  dispose(): void {
    this.#disposed = true;
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#stop();
  }

  #changed(): void {
    const { focused, behind } = this.#settledMs;
    this.#plan(vscode.window.state.focused ? focused : behind);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAtMs = Infinity;
  }

  /** An earlier look that is planned stays. */
  #plan(inMs: number): void {
    const dueAtMs = performance.now() + inMs;
    if (this.#disposed || dueAtMs >= this.#dueAtMs) return;
    this.#stop();
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => {
      this.#stop();
      void this.#look();
    }, inMs).unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const session = this.#parts.sessions.active;
    if (session === undefined || session.isLocked || this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#remind(session);
    } finally {
      this.#isLooking = false;
    }
    if (session !== this.#parts.sessions.active) {
      this.#changed();
      return;
    }
    const expiring = expiringRuns(session, session.runs.rows ?? []);
    const nextMs = nextReminderInMs(expiring, serviceNowMs(session)) ?? LOOK_AGAIN_MS;
    this.#plan(Math.min(nextMs, LOOK_AGAIN_MS));
  }

  async #remind(session: Session): Promise<void> {
    const { told } = this.#parts;
    const { account } = session;
    const won: DueReminder[] = [];
    for (const reminder of this.#due(session)) {
      const { runId, what } = reminder;
      if (!(await knowCompletion(session, reminder)) || !this.#isStillDue(session, reminder)) continue;
      this.#settled.add(keyOf(account.id, reminder));
      if (await told.claim(account.id, runId, what)) won.push(reminder);
    }
    if (this.#disposed || won.length === 0) return;
    this.#tell(session, won);
  }

  #due(session: Session, rows: readonly RunSummary[] = session.runs.rows ?? []): DueReminder[] {
    const { active, records } = recordsByRun(this.#parts.downloads, session.account.id);
    const isSafe = (runId: string) =>
      active.has(runId) || localAdapter(records.get(runId) ?? [], runId) !== undefined;
    return dueReminders(expiringRuns(session, rows), serviceNowMs(session), isSafe).filter(
      (reminder) => !this.#settled.has(keyOf(session.account.id, reminder)),
    );
  }

  #isStillDue(session: Session, { runId, what }: DueReminder): boolean {
    const row = session.runs.get(runId);
    return row !== undefined && this.#due(session, [row]).some((now) => now.what === what);
  }

  #tell(session: Session, reminders: readonly DueReminder[]): void {
    const { account, runs } = session;
    const nowMs = serviceNowMs(session);
    const only = reminders.length === 1 ? reminders[0]?.runId : undefined;
    const run = (command: string, ...args: unknown[]) => {
      void this.#parts.beActive(account.id).then((isActive) => {
        if (isActive) void vscode.commands.executeCommand(command, ...args);
      });
    };
    tellExpiring(
      reminders.map(({ runId, expiresAtMs }) => ({
        name: quotedRunName(withoutMarker(runs.label(runId) ?? ''), runId),
        leftMs: expiresAtMs - nowMs,
      })),
      account.kind === 'sandbox',
      {
        download: () => run(COMMANDS.downloadAdapter, ...(only === undefined ? [] : [only])),
        show: () => run(COMMANDS.showRun, reminders[0]?.runId),
      },
    );
  }
}

function keyOf(accountId: string, { runId, what }: DueReminder): string {
  return JSON.stringify([accountId, runId, what]);
}

function expiringRuns({ runs }: Session, rows: readonly RunSummary[]): ExpiringRun[] {
  return rows.flatMap(({ run_id, artifacts_available, artifacts_expires_at, created_at }) => {
    if (!artifacts_available || artifacts_expires_at === undefined) return [];
    // Until more is known, it has at least not finished before it was created.
    const completedAtMs = instantOf(runs.detail(run_id)?.completed_at ?? created_at);
    return [
      {
        runId: run_id,
        expiresAtMs: instantOf(artifacts_expires_at),
        ...(!Number.isNaN(completedAtMs) && { completedAtMs }),
      },
    ];
  });
}

/** Reads when a run finished, which the list does not say; whether all is known now that can be. */
async function knowCompletion(session: Session, { runId, what }: DueReminder): Promise<boolean> {
  const { runs, budget } = session;
  if (runs.detail(runId) !== undefined) return true;
  // That one must not be missed for a detail.
  const isLast = what === 'expires-in-2-hours';
  if (!budget.takeSpare()) return isLast;
  try {
    await runs.loadDetail(runId, { isBackground: true });
    return true;
  } catch (error) {
    // The service has nothing to say of it; the network may, later.
    return isLast || (error instanceof ServiceError && error.code === 'not_found');
  }
}

function recordsByRun(downloads: Parts['downloads'], accountId: string) {
  const records = new Map<string, DownloadRecord[]>();
  for (const record of downloads.records(accountId))
    records.set(record.runId, [...(records.get(record.runId) ?? []), record]);
  const active = new Set(
    downloads.active
      .filter(
        (download) =>
          download.accountId === accountId &&
          download.state !== 'interrupted' &&
          isAdapter(download.artifactType),
      )
      .map(({ runId }) => runId),
  );
  return { active, records };
}
