import type http from 'node:http';
import { serviceOf } from '../../../src/core/accounts/account.ts';
import type { RunDetail } from '../../../src/core/api/types.ts';
import { withMarker } from '../../../src/core/runs/marker.ts';
import type { Session } from '../../../src/core/runs/session.ts';
import type { Journal, JournalOptions, KnownSubmissions } from '../../../src/core/submission/journal.ts';
import type { SubmissionResult } from '../../../src/core/submission/pendingSubmission.ts';
import type { Draft, Submission } from '../../../src/core/submission/submission.ts';
import { Submissions } from '../../../src/core/submission/submissions.ts';
import { bodyOf, sendJson } from '../httpServer.ts';
import { Bench, silent } from './support.ts';
import { TestClock } from './testClock.ts';

/** A submission that the service received completely. */
export interface Post {
  key: string;
  authorization: string;
  body: Buffer;
  /** Time by the service's clock. */
  atMs: number;
}

/** How the service handles a complete submission. */
export type Answer = (
  stage: Stage,
  post: Post,
  request: http.IncomingMessage,
  response: http.ServerResponse,
) => void;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const MARKER = 'ft-7k3m9qpx';
const PRICE = 100;

/** Charges and responds. */
export const created: Answer = (stage, post, _request, response) =>
  sendJson(response, 201, stage.charge(post), stage.date);

/** Disconnects without a charge or a response. */
export const lost: Answer = (_stage, _post, request) => request.socket.destroy();

/** Responds with an error of the contract. */
export const error =
  (status: number, code: string, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (stage, _post, _request, response) =>
    sendJson(response, status, { error: { code, message: '' } }, { ...stage.date, ...headers });

export const tooPoor = error(402, 'insufficient_balance');
export const broken = error(500, 'internal');
export const conflict = error(409, 'idempotency_conflict');

export function codeOf(outcome: SubmissionResult): string | undefined {
  return outcome.kind === 'not-charged' || outcome.kind === 'unknown'
    ? (outcome.error as { code: string }).code
    : undefined;
}

export const diskFull = () => Object.assign(new Error('no space left'), { code: 'ENOSPC' });

/** Owns a service, a controlled clock, and a window that submits to the service. */
export class Stage {
  readonly bench: Bench;
  readonly clock = new TestClock();
  readonly posts: Post[] = [];
  /** The paths of read requests. */
  readonly gets: string[] = [];
  /** Newest first. */
  readonly runs: RunDetail[] = [];
  balanceCents = 5000;
  /** How far the service's `Date` is ahead of the controlled time. */
  dateOffsetMs = 0;
  /** Whether the service sends its time. */
  sendsDate = true;
  /** One per submission; the last one is reused. */
  answers: Answer[] = [created];
  /** Overrides the response to a read if it returns true. */
  onGet: (request: http.IncomingMessage, response: http.ServerResponse) => boolean = () => false;
  /** Called when the headers of a submission have arrived. */
  onHead: (request: http.IncomingMessage, response: http.ServerResponse) => void = () => undefined;
  readonly submissions: Submissions;
  /** The session used for submissions by default. */
  own!: Session;
  url = '';
  readonly #opened: Submissions[] = [];

  private constructor(bench: Bench) {
    this.bench = bench;
    this.submissions = this.newSubmissions();
  }

  static async start(journalOptions: JournalOptions = {}): Promise<Stage> {
    const stage = new Stage(await Bench.start(journalOptions));
    const server = await stage.bench.serve((request, response) => stage.#serve(request, response));
    stage.url = server.url;
    stage.own = stage.session();
    return stage;
  }

  async end(): Promise<void> {
    for (const submissions of this.#opened) submissions.dispose();
    await this.bench.end();
  }

  get date(): http.OutgoingHttpHeaders {
    if (!this.sendsDate) return {};
    return { date: new Date(this.clock.serviceMs + this.dateOffsetMs).toUTCString() };
  }

  newSubmissions(journal: Journal = this.bench.journal, random = () => 0.5): Submissions {
    const submissions = new Submissions(journal, { clock: this.clock, random });
    this.#opened.push(submissions);
    return submissions;
  }

  /** Opens the journal of another window, with its submissions. */
  async otherWindow(): Promise<{ journal: Journal; submissions: Submissions }> {
    const journal = this.bench.otherJournal();
    const submissions = this.newSubmissions(journal);
    await journal.open();
    return { journal, submissions };
  }

  session(id = 'account-1', keyId = 'key-1'): Session {
    const connection = { baseUrl: this.url, apiKey: `service_${id}_${keyId}`, keyId };
    return this.bench.session(connection, id, () => this.clock.nowMs());
  }

  /** Submits like a user that was told of the earlier submissions of these bytes. */
  async submit(draft?: Draft, whose = this.own, signal = silent()): Promise<SubmissionResult> {
    const given = draft ?? (await this.marked());
    return this.submissions.submit(whose, given, signal, await this.told(given, whose)).result;
  }

  told(draft: Draft, { account } = this.own): Promise<KnownSubmissions> {
    return this.bench.journal.knownOf({ origin: serviceOf(account), ...draft });
  }

  resume(id: string, whose = this.own): Promise<SubmissionResult> {
    return this.submissions.resume(whose, id, silent()).result;
  }

  /** The state of each open submission in a window; if no window works on it, its stage or the reason of its end. */
  states(submissions = this.submissions): string[] {
    return submissions.pending.map(({ state, submission }) => (state === 'idle' ? endOf(submission) : state));
  }

  /** How the receipts ended, newest first. */
  async receipts(): Promise<string[]> {
    return (await this.bench.journal.receipts()).map(endOf);
  }

  /** A draft whose label contains a marker. */
  async marked(marker = MARKER, name = 'train.jsonl'): Promise<Draft> {
    return this.bench.draft(10, name, { marker, label: withMarker('Läbel', marker) });
  }

  /** The only open submission. */
  get submission(): Submission {
    const [submission, ...others] = this.bench.journal.submissions;
    if (submission === undefined || others.length > 0)
      throw new Error(`${others.length + 1} open submissions`);
    return submission;
  }

  /** Creates the run of a submission and returns the response. */
  charge({ body }: Post): object {
    const run = {
      run_id: `run-${this.runs.length + 1}`,
      status: 'queued',
      model_id: fieldOf(body, 'model_id') ?? '',
      label: fieldOf(body, 'label') ?? '',
      plan: 'p',
      price_cents: PRICE,
      created_at: new Date(this.clock.serviceMs).toISOString(),
    };
    this.runs.unshift(run);
    this.balanceCents -= PRICE;
    const { run_id, status, price_cents, plan } = run;
    return {
      run_id,
      status,
      price_cents,
      currency: 'EUR',
      balance_after_cents: this.balanceCents,
      plan_name: plan,
    };
  }

  #serve(request: http.IncomingMessage, response: http.ServerResponse): void {
    response.sendDate = this.sendsDate;
    if (request.method === 'GET') {
      this.#read(request, response);
      return;
    }
    this.onHead(request, response);
    if (response.writableEnded) return;
    bodyOf(request).then(
      (body) => {
        const { 'idempotency-key': key, authorization = '' } = request.headers;
        const post = { key: String(key), authorization, body, atMs: this.clock.serviceMs };
        this.posts.push(post);
        const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
        answer?.(this, post, request, response);
      },
      () => undefined,
    );
  }

  #read(request: http.IncomingMessage, response: http.ServerResponse): void {
    const path = request.url?.replace('/api/v1', '') ?? '';
    this.gets.push(path);
    if (this.onGet(request, response)) return;
    const runId = /^\/runs\/([^?]+)/.exec(path)?.[1];
    const run = this.runs.find(({ run_id }) => run_id === runId);
    if (path === '/balance')
      sendJson(response, 200, { balance_cents: this.balanceCents, currency: 'EUR' }, this.date);
    else if (run !== undefined) sendJson(response, 200, { run }, this.date);
    else if (runId !== undefined)
      sendJson(response, 404, { error: { code: 'not_found', message: '' } }, this.date);
    else
      sendJson(
        response,
        200,
        { data: this.runs.map(summaryOf), next_cursor: null, has_more: false },
        this.date,
      );
  }
}

/** The reason why a record ended, or its stage. */
export function endOf({ stage, reason }: Pick<Submission, 'stage' | 'reason'>): string {
  return reason ?? stage;
}

export function fieldOf(body: Buffer, name: string): string | undefined {
  return new RegExp(`name="${name}"\\r\\n(?:[^\\r\\n]+\\r\\n)*\\r\\n(.*?)\\r\\n--`, 's').exec(
    body.toString(),
  )?.[1];
}

function summaryOf({ run_id, status, model_id, created_at }: RunDetail): object {
  return { run_id, status, model_id, created_at, artifacts_available: false };
}
