import type { Artifact } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import type { ArtifactName } from './activeDownload.ts';
import { artifactNamed, listArtifacts } from './artifactList.ts';
import type { Session } from '../runs/session.ts';

/** How long before its end a signed URL is replaced by a fresh one. */
const MARGIN_MS = 5 * 60_000;
/** How long a signed URL lives where the service does not say (spec: "Limits"). */
const LIFETIME_MS = 30 * 60_000;

/** The signed URL of one artifact, in memory alone: asked for just in time and again before it expires. */
export class SignedLink {
  /** Where it comes from. */
  readonly serviceUrl: string;
  readonly #session: Session;
  readonly #runId: string;
  readonly #name: ArtifactName;
  readonly #clock: Clock;
  #current: { url: string; staleAtMs: number } | undefined;

  /** @param first the artifact as it was just listed */
  constructor(session: Session, runId: string, name: ArtifactName, clock: Clock, first?: Artifact) {
    const { account } = session;
    this.serviceUrl = account.kind === 'sandbox' ? 'http://localhost' : account.baseUrl;
    this.#session = session;
    this.#runId = runId;
    this.#name = name;
    this.#clock = clock;
    if (first !== undefined) this.#accept(first, clock.monotonicMs());
  }

  /** Whether its end is near, or it has none. */
  get isStale(): boolean {
    return this.#current === undefined || this.#clock.monotonicMs() >= this.#current.staleAtMs;
  }

  /** The next `url` is a fresh one. */
  forget(): void {
    this.#current = undefined;
  }

  /** @throws ArtifactsMissingError, ApiError, KeyMissingError, CancelledError */
  async url(signal: AbortSignal): Promise<string> {
    if (this.#current !== undefined && !this.isStale) return this.#current.url;
    const askedAtMs = this.#clock.monotonicMs();
    const artifacts = await listArtifacts(this.#session, this.#runId, signal);
    return this.#accept(artifactNamed(artifacts, this.#name), askedAtMs);
  }

  #accept({ url, expires_in }: Artifact, askedAtMs: number): string {
    const lifetimeMs = expires_in === undefined ? LIFETIME_MS : Math.max(0, expires_in * 1000);
    // One that lives for a short time only is still worth using.
    const staleAtMs = askedAtMs + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2);
    this.#current = { url, staleAtMs };
    return url;
  }
}
