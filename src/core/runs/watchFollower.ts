import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { LookMark } from './lookMark.ts';
import { OFFLINE_MS } from './pace.ts';
import type { RunChange } from './runStore.ts';
import type { SharedList } from './sharedList.ts';
import type { WatchOptions } from './watchOptions.ts';

/** How often a window with the focus says so, while something goes on. */
const FOCUS_MS = 5 * 60_000;
/** How often is asked for what the other window seems to have missed. */
const MISSED_MS = 30_000;
/** And for how long: what it has not seen then, it does not look for. */
const MISSED_FOR_MS = 10 * 60_000;

/** A window that leaves looking to another: it takes in what that one tells, and asks it to look. It sends nothing. */
export class WatchFollower implements Disposable {
  readonly #options: WatchOptions;
  readonly #shared: SharedList;
  readonly #mark: LookMark;
  readonly #disposables = new DisposableStore();
  readonly #lists: FolderWatch;
  #askedAtMs: number;

  constructor(options: WatchOptions, shared: SharedList) {
    this.#options = options;
    this.#shared = shared;
    this.#askedAtMs = options.clock.monotonicMs();
    this.#mark = new LookMark(options.folder.look);
    this.#lists = this.#disposables.add(
      new FolderWatch(options.folder.path, 'list.json', () => shared.read(true)),
    );
    this.#disposables.add(options.session.runs.onDidChange((change) => this.#changed(change)));
  }

  /** Has the other window look soon. Never rejects. */
  async look(): Promise<void> {
    this.#askedAtMs = this.#options.clock.monotonicMs();
    await this.#mark.set().catch((error: unknown) => this.#options.onError(error));
    await this.#shared.read(true);
  }

  /** To be called now and then: the system may have no watch to give. */
  async beat(): Promise<void> {
    this.#lists.renew();
    await this.#shared.read(true);
    if (this.#options.clock.monotonicMs() - this.#askedAtMs > this.#askEveryMs()) await this.look();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #changed({ added }: RunChange): void {
    // Without rows: the sandbox was reset here.
    const isMissed = this.#options.session.runs.rows === undefined || added.some((id) => this.#isMissed(id));
    if (isMissed && !this.#disposables.disposed) void this.look();
  }

  #askEveryMs(): number {
    const { session, isFocused } = this.#options;
    if (session.isLocked) return Infinity;
    const { watched } = session.runs;
    if (watched.some(({ run_id }) => this.#isMissed(run_id))) return MISSED_MS;
    if (session.state === 'offline') return OFFLINE_MS;
    return watched.length > 0 && isFocused() ? FOCUS_MS : Infinity;
  }

  /** A run that was submitted or found here, and that the other window does not know. */
  #isMissed(runId: string): boolean {
    const { session, clock } = this.#options;
    if (this.#shared.has(runId)) return false;
    const run = session.runs.watched.find(({ run_id }) => run_id === runId);
    return run !== undefined && clock.nowMs() - session.runs.changedAtMs(run) < MISSED_FOR_MS;
  }
}
