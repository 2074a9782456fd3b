import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { serviceOf } from '../../../src/core/accounts/account.ts';
import { verifyArchive } from '../../../src/core/adapters/archive.ts';
import { Emitter } from '../../../src/core/base/event.ts';
import type { VerifyArchive } from '../../../src/core/downloads/download.ts';
import { Downloads } from '../../../src/core/downloads/downloads.ts';
import { Notices } from '../../../src/core/runs/notices.ts';
import type { Session } from '../../../src/core/runs/session.ts';
import type { Sessions } from '../../../src/core/runs/sessions.ts';
import { Submissions } from '../../../src/core/submission/submissions.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Services } from '../../../src/services.ts';
import { faultOf } from '../services.ts';
import { Bench, silent } from './support.ts';

/** The parts of a VS Code window that download notices need. */
export interface Window extends Pick<
  Services,
  'downloads' | 'notices' | 'log' | 'sandboxFault' | 'sessions'
> {
  session: Session;
}

/** Owns a sandbox with a controlled clock, and windows that share their state. */
export class DownloadStage {
  readonly bench: Bench;
  readonly sandbox: Sandbox;
  readonly logged: unknown[] = [];
  readonly #clock: { nowMs: number };
  readonly #windows: Window[] = [];
  /** Names the fault of the sandbox that is on. */
  fault: string | undefined;

  private constructor(bench: Bench, sandbox: Sandbox, clock: { nowMs: number }) {
    this.bench = bench;
    this.sandbox = sandbox;
    this.#clock = clock;
  }

  static async start(): Promise<DownloadStage> {
    const bench = await Bench.start();
    const clock = { nowMs: Date.now() };
    const stage = new DownloadStage(bench, await bench.sandbox({ now: () => clock.nowMs }), clock);
    await mkdir(stage.out);
    return stage;
  }

  async end(): Promise<void> {
    for (const { downloads, notices } of this.#windows) {
      await downloads.dispose();
      notices.dispose();
    }
    await this.bench.end();
  }

  /** An initially empty folder. */
  get out(): string {
    return path.join(this.bench.folder, 'out');
  }

  /** Advances the service's time. */
  pass(ms: number): void {
    this.#clock.nowMs += ms;
  }

  /** @param accountId windows of the same account share its data */
  window(accountId = 'account-1', verify: VerifyArchive = verifyArchive): Window {
    const session = this.bench.session(this.sandbox, accountId);
    const runsFolder = path.join(this.bench.folder, 'runs');
    const window: Window = {
      session,
      sessions: {
        active: session,
        onDidChangeActive: new Emitter<Session | undefined>().event,
        isReportedByState: () => false,
      } as unknown as Sessions,
      downloads: new Downloads({
        runsFolder,
        transport: () => this.bench.transport,
        sessionOf: () => session,
        verify,
      }),
      notices: new Notices(runsFolder),
      sandboxFault: {
        get: () => () => this.fault && faultOf(this.fault),
      } as unknown as Window['sandboxFault'],
      log: { error: (_what: string, error: unknown) => this.logged.push(error) } as unknown as Window['log'],
    };
    this.#windows.push(window);
    return window;
  }

  /** Submits a run and returns its ID. */
  async submit({ session }: Window, label: string): Promise<string> {
    const draft = await this.bench.draft(10, `${label}.jsonl`, { label });
    const { journal } = this.bench;
    const known = await journal.knownOf({ origin: serviceOf(session.account), ...draft });
    const outcome = await new Submissions(journal).submit(session, draft, silent(), known).result;
    if (outcome.kind !== 'charged') throw new Error(outcome.kind);
    return outcome.run.run_id;
  }
}
