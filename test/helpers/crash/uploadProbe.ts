import { createHash } from 'node:crypto';

/** What a whole body turned out to be. */
export interface WholeBody {
  digest: string;
  datasetSha256: string;
  fields: ReadonlyMap<string, string>;
}

/** Reads a multipart body as it comes, just as far as it takes to know whether all of it came, and what it is. */
export class UploadProbe {
  readonly #boundary: string;
  readonly #contentLength: number;
  readonly #chunks: Buffer[] = [];
  #receivedBytes = 0;

  constructor(contentType: string, contentLength: number) {
    this.#boundary = /boundary=([^;]+)$/.exec(contentType)?.[1] ?? '';
    this.#contentLength = contentLength;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#receivedBytes += chunk.byteLength;
  }

  /** All that came so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Undefined unless every byte came, and the closing boundary last. */
  whole(): WholeBody | undefined {
    if (this.#boundary === '' || this.#receivedBytes !== this.#contentLength) return undefined;
    const { bytes } = this;
    const tail = Buffer.from(`\r\n--${this.#boundary}--\r\n`);
    if (!bytes.subarray(-tail.byteLength).equals(tail)) return undefined;
    const filePart = bytes.indexOf('name="dataset"');
    const start = bytes.indexOf('\r\n\r\n', filePart) + 4;
    if (filePart < 0) return undefined;
    const fields = new Map<string, string>();
    for (const [, name = '', value = ''] of bytes
      .toString('utf8', 0, filePart)
      .matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g))
      fields.set(name, value);
    return { digest: sha256(bytes), datasetSha256: sha256(bytes.subarray(start, -tail.byteLength)), fields };
  }
}

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
