import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { MAX_DATASET_BYTES, MAX_LABEL_LENGTH } from '../core/api/types.ts';
import { invalid, refuse } from './server.ts';

/** A well-formed submission. Its model's availability and the balance are checked later. */
export interface SubmissionForm {
  /** In lower case; undefined if the header is missing. */
  idempotencyKey: string | undefined;
  modelId: string;
  label: string | null;
  priority: boolean;
  dataset: DatasetDigest;
}

/**
 * Reads and validates POST /runs (spec: "POST /api/v1/runs").
 * @throws RefusedRequest `validation_failed`, possibly before the complete body is read; `consent_required`; ClientGone
 */
export async function readSubmission(request: IncomingMessage): Promise<SubmissionForm> {
  const idempotencyKey = readIdempotencyKey(request);
  const { fields, dataset } = await readForm(request);
  const { model_id: modelId, label = '', priority_processing: priority = 'false' } = fields;
  if (!modelId) throw invalid('The field model_id is missing.');
  if (label.length > MAX_LABEL_LENGTH)
    throw invalid(`The label is longer than ${MAX_LABEL_LENGTH} characters.`);
  if (priority !== 'true' && priority !== 'false')
    throw invalid('priority_processing is neither true nor false.');
  for (const consent of ['model_terms_accepted', 'data_policy_accepted'] as const) {
    if (fields[consent] !== 'true') throw refuse('consent_required', `${consent} must be true.`);
  }
  return { idempotencyKey, modelId, label: label || null, priority: priority === 'true', dataset };
}

/** Equal for "the exact same request" (spec: "Limits"): covers every parameter and the dataset's bytes. */
export function fingerprint({ modelId, label, priority, dataset }: SubmissionForm): string {
  return createHash('sha256')
    .update(JSON.stringify([modelId, label, priority, dataset.bytes, dataset.sha256]))
    .digest('hex');
}

/** @throws RefusedRequest `validation_failed` if it isn’t a UUID */
function readIdempotencyKey({ headers }: IncomingMessage): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value))
    throw invalid('The Idempotency-Key is not a UUID.');
  return value.toLowerCase();
}

const FIELDS = [
  'model_id',
  'label',
  'model_terms_accepted',
  'data_policy_accepted',
  'priority_processing',
] as const;
type FieldName = (typeof FIELDS)[number];

/** Far more than five fields and their part headers need. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;

/** The parts of a submission, without the dataset's bytes. */
interface Form {
  fields: Partial<Record<FieldName, string>>;
  dataset: DatasetDigest;
}

/** Thrown if the client disconnected during its request; nothing happened. */
export class ClientGone extends Error {}

/**
 * Reads a submission's multipart body to its very end. Strict, so that it shows errors of a client: allows each part of
 * the contract once, and no others.
 * @throws RefusedRequest `validation_failed` as early as possible, with the rest of the body unread; ClientGone
 */
async function readForm(request: IncomingMessage): Promise<Form> {
  if (Number(request.headers['content-length']) > MAX_DATASET_BYTES + MAX_OVERHEAD_BYTES) throw tooLarge();
  const parser = createParser(request);
  const fields: Form['fields'] = {};
  let dataset: DatasetReader | undefined;

  await new Promise<void>((resolve, reject) => {
    const stop = (refusal: Error) => {
      request.unpipe(parser);
      reject(refusal);
    };
    parser.on('field', (name, value, _nameCut, valueCut) => {
      if (!isFieldName(name)) stop(invalid('The form has an unknown field, or its file is sent as a field.'));
      else if (Object.hasOwn(fields, name)) stop(invalid(`The field ${name} is there twice.`));
      else if (valueCut) stop(invalid(`The field ${name} is too long.`));
      else fields[name] = value;
    });
    parser.on('file', (name, stream: BusboyFileStream) => {
      const reader = new DatasetReader();
      stream.on('data', (chunk: Buffer) => {
        if (!reader.update(chunk)) stop(firstRowRefusal());
      });
      stream.on('limit', () => stop(tooLarge()));
      // The parser also reports a part that ends too early.
      stream.on('error', () => undefined);
      if (name !== 'dataset') stop(invalid('The form has an unknown file, or a field is sent as a file.'));
      else if (dataset) stop(invalid('The file dataset is there twice.'));
      else dataset = reader;
    });
    parser.on('error', () => stop(invalid('The body is not a complete multipart form.')));
    // Wait for the end of both: nothing may be charged before the client has sent everything it announced.
    let open = 2;
    const end = () => {
      open -= 1;
      if (open === 0) resolve();
    };
    parser.once('finish', end);
    request.once('end', end);
    request.once('close', () => {
      if (!request.complete) stop(new ClientGone());
    });
    request.pipe(parser);
  });

  if (!dataset) throw invalid('The form has no file dataset.');
  return { fields, dataset: dataset.end() };
}

function createParser({ headers }: IncomingMessage): BusboyInstance {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw invalid('The body is not multipart/form-data.');
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: MAX_FIELD_BYTES, fileSize: MAX_DATASET_BYTES },
    });
  } catch {
    throw invalid('The multipart boundary is missing.');
  }
}

function isFieldName(name: string): name is FieldName {
  return FIELDS.some((field) => field === name);
}

function tooLarge() {
  return invalid(`The dataset is larger than ${MAX_DATASET_BYTES} bytes.`);
}

/** If the first row is longer, only its first byte is checked. */
const ROW_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;
const OPENING_BRACE = 0x7b;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d, LINE_FEED];

/** Size and SHA-256 (hexadecimal) of a dataset. */
interface DatasetDigest {
  bytes: number;
  sha256: string;
}

/** Counts and hashes the bytes of a streamed dataset. Checks that its first nonblank row is a JSON object. */
class DatasetReader {
  readonly #hash = createHash('sha256');
  #bytes = 0;
  /** The bytes of the first row so far, without blanks before it; undefined once it is checked. */
  #row: Buffer | undefined = Buffer.alloc(0);

  /** Returns false if this chunk shows that the first row is not a JSON object. */
  update(chunk: Buffer): boolean {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    if (this.#row === undefined) return true;
    const begun = Buffer.concat([this.#row, chunk]);
    const start = begun.findIndex((byte) => !BLANKS.includes(byte));
    const row = begun.subarray(start < 0 ? begun.length : start);
    const end = row.indexOf(LINE_FEED);
    const isEnough = end >= 0 || row.length > ROW_BYTES;
    this.#row = isEnough ? undefined : row;
    return !isEnough || (end < 0 ? row[0] === OPENING_BRACE : isJsonObject(row.subarray(0, end)));
  }

  /** @throws RefusedRequest if the dataset has no row, or its only one is not a JSON object. */
  end(): DatasetDigest {
    if (this.#row?.length === 0) throw invalid('The dataset is empty.');
    if (this.#row && !isJsonObject(this.#row)) throw firstRowRefusal();
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}

/** Reveals nothing of the row's content, which is the user's data. */
function firstRowRefusal() {
  return invalid("The dataset's first row is not a JSON object.");
}

function isJsonObject(row: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(row));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
