import type http from 'node:http';
import { sendJson, startHttpServer, type TestServer } from './httpServer.ts';

/** How a response to a signed URL is wrong. */
export interface BlobFault {
  /** Cuts the connection after this many bytes of the body. */
  cutAfterBytes?: number;
  /** Sends nothing more after this many bytes of the body. */
  stallAfterBytes?: number;
  status?: number;
  /** Redirects to another URL of this server, which works. */
  redirect?: boolean;
  ignoresRanges?: boolean;
  /** Null for none. */
  etag?: string | null;
  /** `chunked` has no length, `close` ends with the connection. */
  framing?: 'chunked' | 'close';
  /** Replaces the correct header. */
  contentRange?: string;
  contentEncoding?: string;
  /** Changes the file from now on. */
  bytes?: Buffer;
  /** Sends this many more bytes than announced; needs `framing`. */
  surplusBytes?: number;
  /** Called and awaited before the last piece. */
  beforeEnd?: () => Promise<unknown>;
}

export interface BlobRequest {
  headers: http.IncomingHttpHeaders;
  /** Offset of the response's first byte. */
  startByte: number;
  sentBytes: number;
  status: number;
}

const SMALL_PIECE_BYTES = 16 * 1024;

/** The service's two endpoints for a download, and the storage, with faults on request. */
export class BlobServer {
  bytes: Buffer;
  etag = '"one"';
  artifactType = 'model';
  filename: string | undefined = 'adapter.zip';
  expiresInS: number | undefined = 1800;
  /** Errors in place of a signed URL, one per request; later requests succeed. */
  readonly refusals: { status: number; code: string }[] = [];
  /** The response for the run's details. */
  detail: { status: number; body: unknown } = {
    status: 200,
    body: { run: { run_id: 'run-1', status: 'completed', model_id: 'm' } },
  };
  /** One per request for the bytes; later requests use `always`. */
  readonly faults: BlobFault[] = [];
  always: BlobFault = {};
  readonly requests: BlobRequest[] = [];
  onRequest: () => void = () => undefined;
  /** Number of URLs signed so far. */
  signed = 0;
  /** Number of signed URLs, from the first, that are expired. */
  expired = 0;
  bytesPerSecond = Infinity;
  /** Bytes that the client has received; a cut waits for them. */
  received: () => number = () => Infinity;
  /** Requests to the service's endpoints. */
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
    const rest = this.bytes.subarray(seen.startByte);
    const { surplusBytes } = fault;
    const body = surplusBytes === undefined ? rest : Buffer.concat([rest, Buffer.alloc(surplusBytes)]);
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
      // Don't catch up after a pause.
      else if (aheadMs < 0) startedMs -= aheadMs;
    }
    if (fault.stallAfterBytes !== undefined) return;
    if (fault.cutAfterBytes === undefined) {
      response.end();
      return;
    }
    // Cutting the connection would lose what the client has not read yet.
    while (this.received() < seen.startByte + seen.sentBytes && !response.destroyed)
      await new Promise((resolve) => setTimeout(resolve, 1));
    response.destroy();
  }
}
