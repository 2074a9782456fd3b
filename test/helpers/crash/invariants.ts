import type { Discarded } from '../../../src/core/submission/pendingSubmission.ts';
import type { SimulatedClock } from './clock.ts';
import type { Ledger, Post } from './service.ts';
import type { Simulation } from './simulation.ts';
import { CANARIES, DATASET } from './stage.ts';
import { mayFollow, stepOf } from './transitions.ts';
import type { Kept, Shown, ShownResult } from './window.ts';
import type { WindowProcess } from './windowProcess.ts';

/*
 * - I1 at most one charge. I2 the same bytes each time. I3 one Idempotency-Key at a time. I4 a true result.
 * - I5 no secret written. I6 the right API key and service. I7 bounded attempts, Retry-After.
 * - I9 no other files in the journal. I10 no chain has a gap, and each step is one of the table's.
 */

/** Limit per click. */
const MAX_ATTEMPTS = 5;

/** A window's claim that a submission was not charged, and the moment of it. */
interface Claim {
  id: string;
  window: number;
  /** Attempts that the window had started. */
  posts: number;
  /** Requests that the service had received. */
  seq: number;
  atMs: number;
  how: string;
}

/** Compares what the user was shown with what the service did, immediately and at the end (I4). */
export class Claims {
  readonly #ledger: Ledger;
  readonly #clock: Pick<SimulatedClock, 'nowMs'>;
  readonly #violate: (text: string) => void;
  readonly #claims: Claim[] = [];
  readonly #resolved = new Set<string>();
  /**
   * Submissions that the user knows to be charged, and those that they discarded or left open as possible charges.
   */
  readonly #told = new Set<string>();
  /** All results shown to the user. */
  readonly all: ShownResult[] = [];

  /** When the storage was set back. A run that wasn't listed then can't be known until it is. */
  setBackMs: number | undefined;
  /** The submissions that the user discarded since then, as not charged. */
  discardsSinceSetBack = 0;
  withoutLocks = false;

  constructor(ledger: Ledger, clock: Pick<SimulatedClock, 'nowMs'>, violate: (text: string) => void) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#violate = violate;
  }

  /** Whether the user knows the result or has discarded the submission. */
  isResolved(id: string): boolean {
    return this.#resolved.has(id);
  }

  /** Records that the user read that a submission may have been charged. */
  toldOf(id: string): void {
    this.#told.add(id);
  }

  discarded(window: WindowProcess, id: string, how: Discarded | Kept): void {
    if (how.kind === 'kept') return;
    this.#resolved.add(id);
    if (how.kind === 'charged') this.charged({ id, run: how.run });
    else if (how.kind === 'discarded') this.#told.add(id);
    else {
      if (this.setBackMs !== undefined) this.discardsSinceSetBack++;
      this.#claim(id, window, 'discarded');
    }
  }

  /** Records a row of the tree. */
  shown(window: WindowProcess, { id, submission, state }: Shown): void {
    const { stage, reason = stage } = submission;
    if (state === 'idle' && stage === 'sent') this.#told.add(id);
    else if (state === 'idle') this.#claim(id, window, `shown as ${reason}`);
  }

  reported(window: WindowProcess, result: ShownResult): void {
    this.all.push(result);
    const { kind, id, isKept } = result;
    if (kind === 'charged') this.charged(result);
    if (id === undefined) return;
    // A submission that two checks found uncharged is still open.
    const isOver = kind === 'charged' || kind === 'ended' || (kind === 'not-charged' && isKept === false);
    if (isOver) this.#resolved.add(id);
    if (kind === 'not-charged' || kind === 'ended') this.#claim(id, window, 'reported');
    if (kind === 'unknown') this.#told.add(id);
  }

  /** Checks the charge that a result or a receipt names. */
  charged({ id, run }: { id?: string | undefined; run?: ShownResult['run'] | undefined }): void {
    const charge = this.#ledger.charges.find(({ runId }) => runId === run?.run_id);
    if (charge === undefined) this.#violate('I4: reported as charged, but the run was not');
    else this.#told.add(charge.idempotencyKey);
    if (charge === undefined) return;
    if (id !== undefined && charge.idempotencyKey !== id)
      this.#violate('I4: reported as charged with the run of another submission');
    else if (run?.price_cents !== undefined && run.price_cents !== charge.priceCents)
      this.#violate('I4: reported as charged with another price');
  }

  /** @param isUnknowable whether neither the record nor a run's label can name a charge */
  verify(isUnknowable: boolean): void {
    for (const claim of this.#claims) this.#verify(claim);
    for (const { seq, idempotencyKey } of this.#ledger.charges)
      if (!this.#told.has(idempotencyKey) && !isUnknowable)
        this.#violate(`I4: request ${seq} was charged, and the user was never told that it may have been`);
  }

  #claim(id: string, { number, posts }: WindowProcess, how: string): void {
    const claim = { id, window: number, posts, seq: this.#ledger.seq, how, atMs: this.#clock.nowMs };
    this.#claims.push(claim);
    this.#verify(claim);
  }

  #verify({ id, window, posts, seq, how, atMs }: Claim): void {
    for (const charge of this.#ledger.charges.filter(({ idempotencyKey }) => idempotencyKey === id)) {
      const post = this.#ledger.posts.find((one) => one.seq === charge.seq);
      // Whether the request was sent before the claim; each window numbers its attempts. Without the first window's lock, another one
      // doesn't know of an upload before its last bytes, but a discard ends that upload.
      const fromSeq =
        (this.withoutLocks && how !== 'discarded' ? post?.completeSeq : undefined) ?? charge.seq;
      const isBefore = post?.window === window ? post.ordinal <= posts : fromSeq <= seq;
      const isBeyond = charge.listedMs > (this.setBackMs ?? Infinity) && charge.listedMs > atMs;
      if (isBefore && !isBeyond)
        this.#violate(`I4: ${how} by window ${window} as not charged, but request ${charge.seq} was charged`);
    }
  }
}

/** Checks every invariant of a cell whose windows are closed. */
export function verify(simulation: Simulation): void {
  const { rollsBack, withoutMarker } = simulation.cell;
  simulation.claims.verify(rollsBack !== undefined && withoutMarker === true);
  verifyCharges(simulation);
  verifyRequests(simulation);
  verifySecrets(simulation);
  verifyBounds(simulation);
  verifyChains(simulation);
  for (const name of simulation.folder.strayFiles()) simulation.violate(`I9: ${name} is left`);
}

/** I1: at most one charge per submission, and at most one in total plus those that the user knowingly risked. */
function verifyCharges(simulation: Simulation): void {
  const { charges } = simulation.service.ledger;
  for (const { length } of Map.groupBy(charges, ({ idempotencyKey }) => idempotencyKey).values())
    if (length > 1) simulation.violate(`I1: one submission was charged ${length} times`);
  if (charges.length > 1 + simulation.riskedCharges + riskBeyond(simulation))
    simulation.violate(
      `I1: one dataset was charged ${charges.length} times, ${simulation.riskedCharges} more were taken into account`,
    );
}

/**
 * Beyond us: storage that was set back while the service priced an upload. The upload can't be resent (unknown age, another API
 * key), or was discarded. Then a submission in its place is charged, too.
 */
function riskBeyond({ cell, claims, formerApiKeys, service }: Simulation): number {
  const { setWallMs, sleepMs, withoutDate } = cell;
  // A refused API key is replaced as well.
  const isUnsure = withoutDate ?? (formerApiKeys.length > 0 || (setWallMs ?? sleepMs) !== undefined);
  const setBackMs = claims.setBackMs ?? Infinity;
  const wasPriced = service.ledger.charges.some(({ listedMs }) => listedMs > setBackMs);
  return wasPriced ? Number(isUnsure) + claims.discardsSinceSetBack : 0;
}

/** I2 and I6: the requests and their recipients. */
function verifyRequests(simulation: Simulation): void {
  const { service, account, elsewhere } = simulation;
  const violate = (text: string) => simulation.violate(text);
  for (const [key, posts] of Map.groupBy(service.ledger.posts, ({ idempotencyKey }) => idempotencyKey)) {
    if (!/^[0-9a-f-]{36}$/.test(key)) violate('I2: a request without an Idempotency-Key');
    const complete = posts.filter(({ digest }) => digest !== 'incomplete');
    const differs = (all: Post[], what: (post: Post) => unknown) => new Set(all.map(what)).size > 1;
    if (differs(complete, ({ digest }) => digest)) violate('I2: bodies of one submission differ');
    if (differs(posts, ({ contentType }) => contentType)) violate('I2: boundaries differ');
    if (differs(posts, ({ contentLength }) => contentLength)) violate('I2: lengths differ');
    for (const { datasetSha256, seq } of complete)
      if (datasetSha256 !== DATASET.sha256)
        violate(`I2: request ${seq} released its closing boundary after other bytes than those consented to`);
    // Another API key may belong to another account.
    const apiKey = simulation.apiKeys.get(simulation.folder.keyIdOf(key) ?? '');
    for (const { authorization, seq } of posts)
      if (apiKey !== undefined && authorization !== `Bearer ${apiKey}`)
        violate(`I6: request ${seq} was sent with another API key than its submission was created with`);
  }
  const known = [account.apiKey, ...simulation.formerApiKeys].map((apiKey) => `Bearer ${apiKey}`);
  for (const { authorization, seq } of [...service.ledger.posts, ...service.ledger.reads])
    if (!known.includes(authorization)) violate(`I6: request ${seq} has another authorization`);
  const { posts, reads } = simulation.otherService.ledger;
  if (posts.length > 0) violate('I6: it was sent to another account');
  for (const { authorization } of reads)
    if (authorization !== `Bearer ${CANARIES.otherApiKey}`) violate('I6: an API key went to another account');
  if (
    elsewhere.ledger.posts.length > 0 ||
    elsewhere.ledger.reads.some(({ authorization }) => authorization !== '')
  )
    violate('I6: an API key or a body went to another origin');
}

/** I5: no secret in files, output, or results of the processes. */
function verifySecrets(simulation: Simulation): void {
  const texts = [
    ...simulation.folder.texts(),
    ...simulation.windows.map(({ number, output }) => [`the output of window ${number}`, output] as const),
    ...simulation.claims.all.map(
      ({ kind, error, run }) => [`a ${kind}`, JSON.stringify([error?.code, error?.text, run])] as const,
    ),
  ];
  for (const [where, text] of texts)
    for (const [name, canary] of Object.entries(CANARIES))
      if (text.includes(canary)) simulation.violate(`I5: ${name} in ${where}`);
  if (simulation.claims.all.some(({ error }) => error?.serviceMessage.includes('canaryKey')))
    simulation.violate('I5: the API key in what the service said');
}

/** I10: no chain of versions has a gap, and the table has each step. Windows check which one wrote it. */
function verifyChains(simulation: Simulation): void {
  const { folder, cell } = simulation;
  if (folder.givenAgain !== undefined) simulation.violate('I10: a deleted name was given again');
  for (const key of folder.keys) {
    const chain = folder.chain(key);
    for (const [index, version] of chain.entries()) {
      // Only damage leaves a version that isn't a record.
      if (version === undefined && cell.damages !== true && !folder.hasVersion(key, index + 1))
        simulation.violate(`I10: version ${index + 1} of ${chain.length} is missing`);
      const below = chain[index - 1];
      if (typeof version !== 'object' || typeof below !== 'object' || mayFollow(below, version, true))
        continue;
      simulation.violate(`I10: ${stepOf(version)} stands above ${stepOf(below)}`);
    }
  }
}

/** I7: attempts are limited, and none is sent before Retry-After. */
function verifyBounds(simulation: Simulation): void {
  const { posts } = simulation.service.ledger;
  const attempts = Map.groupBy(posts, ({ window, ordinal }) => `attempt ${ordinal} of window ${window}`);
  for (const [attempt, { length }] of attempts)
    if (length > 1) simulation.violate(`I7: ${attempt} was sent twice`);
  for (const [index, post] of posts.entries())
    for (const { idempotencyKey, window, digest, notBeforeMs = 0, seq } of posts.slice(0, index)) {
      if (idempotencyKey !== post.idempotencyKey || post.atMs >= notBeforeMs - 1) continue;
      // Leave out a window that was killed or lost its lock, or whose record was set back or damaged: the answer may be missing.
      const { second, rollsBack, damages } = simulation.cell;
      const isKept = rollsBack === undefined && damages !== true;
      const isStored = !simulation.cutOff.has(window) && second !== 'lock lost' && isKept;
      if (window !== post.window && !isStored) continue;
      // Leave out one that gave up at a full disk, perhaps a moment before it read an early answer.
      if (simulation.hasFullDisk(window)) continue;
      // Leave out one that stopped because the dataset changed, for the same reason.
      if (simulation.cell.datasetBecomes !== undefined && digest === 'incomplete') continue;
      // Without locks, leave out one that uploads beside another window, which stops it before its boundary.
      if (simulation.cell.withoutLocks === true && window !== post.window && post.digest === 'incomplete')
        continue;
      // Leave out one that the user stopped waiting for.
      if (simulation.cell.cancelAt === 'validating' && simulation.cell.cancelBy === 'abort') continue;
      // Leave out one after the clock was set: without the service's time, that looks like a sleep.
      const { setWallMs = 0, withoutDate } = simulation.cell;
      if (window !== post.window && withoutDate === true && setWallMs > 0) continue;
      const earlyMs = notBeforeMs - post.atMs;
      simulation.violate(`I7: request ${post.seq} came ${earlyMs} ms before the Retry-After of ${seq}`);
    }
  for (const [call, count] of simulation.attemptsOfCalls)
    if (count > MAX_ATTEMPTS) simulation.violate(`I7: ${count} attempts after one ${call}`);
}
