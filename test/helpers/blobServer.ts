import type http from 'node:http';
import { sendJson, startHttpServer, type TestServer } from './httpServer.ts';

/** How one answer to a signed URL differs from what it should be. */
export interface BlobFault {
  /** The connection is reset after so many bytes of the body. */
  cutAfterBytes?: number;
  /** Nothing more comes after so many bytes of the body. */
  stallAfterBytes?: number;
  /** Nothing but this. */
  status?: number;
  /** To another address of this server, which answers. */
  redirect?: boolean;
  ignoresRanges?: boolean;
  /** Null where there is none. */
  etag?: string | null;
  /** `chunked` gives no length, `close` ends with the connection. */
  framing?: 'chunked' | 'close';
  /** Stands in the place of the right one. */
  contentRange?: string;
  contentEncoding?: string;
  /** Other bytes than before from now on. */
  bytes?: Buffer;
  /** Called before the last piece. */
  beforeEnd?: () => Promise<unknown>;
}

/** One request for the bytes. */
export interface BlobRequest {
  headers: http.IncomingHttpHeaders;
  /** Which byte came first in the answer. */
  startByte: number;
  /** How many bytes went out. */
  sentBytes: number;
  status: number;
}

const SMALL_PIECE_BYTES = 16 * 1024;

/** The service's two endpoints that a download needs, and the storage behind: it errs as it is told to. */
export class BlobServer {
  bytes: Buffer;
  etag = '"one"';
  artifactType = 'model';
  filename: string | undefined = 'adapter.zip';
  expiresInS: number | undefined = 1800;
  /** What the endpoint of the artifacts answers in the place of a signed URL, one for each request; then as it should. */
  readonly refusals: { status: number; code: string }[] = [];
  /** What the details answer. */
  detail: { status: number; body: unknown } = {
    status: 200,
    body: { run: { run_id: 'run-1', status: 'completed', model_id: 'm' } },
  };
  /** One for each request for the bytes; then it answers as it should, or as `always` says. */
  readonly faults: BlobFault[] = [];
  always: BlobFault = {};
  readonly requests: BlobRequest[] = [];
  /** Called for each of them. */
  onRequest: () => void = () => undefined;
  /** How many signed URLs were given out; older ones can be refused. */
  signed = 0;
  /** Signed URLs up to this one are refused. */
  expired = 0;
  bytesPerSecond = Infinity;
  /** How far the reader is: a cut waits for it. */
  received: () => number = () => Infinity;
  /** What endpoints of the service were asked. */
  readonly asked: string[] = [];
  readonly #server: TestServer;

  private constructor(bytes: Buffer, server: TestServer) {
    this.bytes = bytes;
    this.#server = server;
  }

  static async start(bytes: Buffer): Promise<BlobServer> {
    const all: { server?: BlobServer } = {};
    const server = await startHttpServer((request, response) => all.server?.answer(request, response));
    all.server = new BlobServer(bytes, server);
    return all.server;
  }

  get url(): string {
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const url = new URL(String(request.url), this.url);
    if (url.pathname === '/blob') {
      this.#sendBlob(request, response, Number(url.searchParams.get('secret')));
      return;
    }
    this.asked.push(`${request.method} ${url.pathname}`);
    if (!url.pathname.endsWith('/artifacts/download')) {
      sendJson(response, this.detail.status, this.detail.body);
      return;
    }
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      sendJson(response, refusal.status, { error: { code: refusal.code, message: '' } });
      return;
    }
    this.signed += 1;
    const artifact = {
      artifact_type: this.artifactType,
      url: `${this.url}/blob?secret=${this.signed}`,
      expires_in: this.expiresInS,
      filename: this.filename,
    };
    sendJson(response, 200, { artifacts: [artifact] });
  }

  #sendBlob(request: http.IncomingMessage, response: http.ServerResponse, link: number): void {
    const seen: BlobRequest = { headers: request.headers, startByte: 0, sentBytes: 0, status: 403 };
    this.requests.push(seen);
    this.onRequest();
    if (link <= this.expired) {
      response.writeHead(403).end('<Error>expired</Error>');
      return;
    }
    const fault = this.faults.shift() ?? this.always;
    if (fault.redirect) {
      seen.status = 302;
      response.writeHead(302, { location: `/blob?secret=${link}&moved=1` }).end();
      return;
    }
    if (fault.status !== undefined) {
      seen.status = fault.status;
      response.writeHead(fault.status).end('<Error>');
      return;
    }
    if (fault.bytes !== undefined) this.bytes = fault.bytes;
    if (typeof fault.etag === 'string') this.etag = fault.etag;
    const range = fault.ignoresRanges ? undefined : this.#rangeOf(request.headers);
    if (range === this.bytes.length && range > 0) {
      seen.status = 416;
      response.writeHead(416, { 'content-range': `bytes */${this.bytes.length}` }).end();
      return;
    }
    seen.startByte = range ?? 0;
    seen.status = range === undefined ? 200 : 206;
    const body = this.bytes.subarray(seen.startByte);
    const total = this.bytes.length;
    if (fault.framing === 'close') response.useChunkedEncodingByDefault = false;
    response.writeHead(seen.status, {
      ...(fault.etag !== null && { etag: this.etag }),
      ...(range !== undefined && {
        'content-range': fault.contentRange ?? `bytes ${range}-${total - 1}/${total}`,
      }),
      ...(fault.contentEncoding !== undefined && { 'content-encoding': fault.contentEncoding }),
      ...(fault.framing === undefined && { 'content-length': body.length }),
      ...(fault.framing === 'close' && { connection: 'close' }),
    });
    response.flushHeaders();
    this.#send(body, response, seen, fault).catch(() => response.destroy());
  }

  #rangeOf({ range, 'if-range': ifRange }: http.IncomingHttpHeaders): number | undefined {
    const [, first] = /^bytes=(\d+)-$/.exec(range ?? '') ?? [];
    return first === undefined || (ifRange !== undefined && ifRange !== this.etag)
      ? undefined
      : Number(first);
  }

  async #send(
    body: Buffer,
    response: http.ServerResponse,
    seen: BlobRequest,
    fault: BlobFault,
  ): Promise<void> {
    const limit = Math.min(fault.cutAfterBytes ?? Infinity, fault.stallAfterBytes ?? Infinity, body.length);
    let startedMs = performance.now();
    const write = (piece: Buffer) => new Promise<void>((resolve) => response.write(piece, () => resolve()));
    while (seen.sentBytes < limit && !response.destroyed) {
      const piece = body.subarray(seen.sentBytes, Math.min(limit, seen.sentBytes + SMALL_PIECE_BYTES));
      seen.sentBytes += piece.length;
      if (seen.sentBytes === limit) await fault.beforeEnd?.();
      await write(piece);
      const aheadMs = startedMs + (seen.sentBytes / this.bytesPerSecond) * 1000 - performance.now();
      if (aheadMs >= 1) await new Promise((resolve) => setTimeout(resolve, aheadMs));
      // What a pause lost is lost: no bursts.
      else if (aheadMs < 0) startedMs -= aheadMs;
    }
    if (fault.stallAfterBytes !== undefined) return;
    if (fault.cutAfterBytes === undefined) {
      response.end();
      return;
    }
    // What waits in the reader's buffers would be lost with the connection.
    while (this.received() < seen.startByte + seen.sentBytes && !response.destroyed)
      await new Promise((resolve) => setTimeout(resolve, 1));
    response.destroy();
  }
}
