/** One POST /runs as the service saw it. */
export interface Post {
  /** Among all requests of the cell, from 1. */
  seq: number;
  /** Which process sent it, and its how-manieth this was: told by headers that only the harness adds. */
  window: number;
  ordinal: number;
  atMs: number;
  idempotencyKey: string;
  authorization: string;
  contentType: string;
  contentLength: number;
  receivedBytes: number;
  /** SHA-256 of the whole body, closing boundary included; `incomplete` until it came. */
  digest: string;
  /** SHA-256 of the dataset in it, of a whole body. */
  datasetSha256?: string;
  modelId?: string;
  label?: string;
  /** When its closing boundary came. */
  closedAtMs?: number;
  /** What the service had to say, if it came to that. */
  status?: number;
  /** Before this time the service asked to be left alone. */
  notBeforeMs?: number;
}

/** Any other request. */
export interface Read {
  seq: number;
  window: number;
  atMs: number;
  method: string;
  path: string;
  authorization: string;
}

/** One charge. */
export interface Charge {
  /** Of the post that it was made for. */
  seq: number;
  idempotencyKey: string;
  digest: string;
  runId: string;
  priceCents: number;
  atMs: number;
}

/** Everything that the service saw and did. */
export class Ledger {
  readonly posts: Post[] = [];
  readonly reads: Read[] = [];
  readonly charges: Charge[] = [];
  #seq = 0;

  /** The number of the last request. */
  get seq(): number {
    return this.#seq;
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  postsOf(idempotencyKey: string): Post[] {
    return this.posts.filter((post) => post.idempotencyKey === idempotencyKey);
  }

  chargesOf(idempotencyKey: string): Charge[] {
    return this.charges.filter((charge) => charge.idempotencyKey === idempotencyKey);
  }
}
