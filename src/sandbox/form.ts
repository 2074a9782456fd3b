import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { MAX_DATASET_BYTES } from '../core/api/types.ts';
import { DatasetReader, firstRowRefusal, type DatasetDigest } from './dataset.ts';
import { invalid } from './errors.ts';

const FIELDS = [
  'model_id',
  'label',
  'model_terms_accepted',
  'data_policy_accepted',
  'priority_processing',
] as const;
type FieldName = (typeof FIELDS)[number];

/** Far more than five fields and the part headers need. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_PARTS = 20;

/** The parts of a submission; the dataset's bytes themselves are not kept. */
interface Form {
  fields: Partial<Record<FieldName, string>>;
  dataset: DatasetDigest;
}

/** The client ended the connection inside its request: nothing happened, and nobody is there to be told. */
export class ClientGone extends Error {}

/**
 * Reads a submission's multipart body to its very end. It is read strictly, so that what a client gets wrong shows:
 * each part once, no part that the contract does not name.
 * @throws Refusal `validation_failed`, as soon as it is known; the rest of the body is then still unread.
 * @throws ClientGone
 */
export async function readForm(request: IncomingMessage): Promise<Form> {
  if (Number(request.headers['content-length']) > MAX_DATASET_BYTES + MAX_OVERHEAD_BYTES) throw tooLarge();
  const parser = createParser(request);
  const fields: Form['fields'] = {};
  let dataset: DatasetReader | undefined;

  await new Promise<void>((resolve, reject) => {
    const refuse = (refusal: Error) => {
      request.unpipe(parser);
      reject(refusal);
    };
    parser.on('field', (name, value, _nameCut, valueCut) => {
      if (!isFieldName(name))
        refuse(invalid('The form has an unknown field, or its file is sent as a field.'));
      else if (Object.hasOwn(fields, name)) refuse(invalid(`The field ${name} is there twice.`));
      else if (valueCut) refuse(invalid(`The field ${name} is too long.`));
      else fields[name] = value;
    });
    parser.on('file', (name, stream: BusboyFileStream) => {
      const reader = new DatasetReader();
      stream.on('data', (chunk: Buffer) => {
        if (!reader.update(chunk)) refuse(firstRowRefusal());
      });
      stream.on('limit', () => refuse(tooLarge()));
      // A part that ends too early: the parser reports it as well.
      stream.on('error', () => undefined);
      if (name !== 'dataset') refuse(invalid('The form has an unknown file, or a field is sent as a file.'));
      else if (dataset) refuse(invalid('The file dataset is there twice.'));
      else dataset = reader;
    });
    parser.on('partsLimit', () => refuse(invalid('The form has too many parts.')));
    parser.on('error', () => refuse(invalid('The body is not a complete multipart form.')));
    // The end of both: nothing may be charged before the client has sent all that it announced.
    let open = 2;
    const end = () => {
      open -= 1;
      if (open === 0) resolve();
    };
    parser.once('finish', end);
    request.once('end', end);
    request.once('close', () => {
      if (!request.complete) reject(new ClientGone());
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
      limits: { fieldSize: MAX_FIELD_BYTES, fileSize: MAX_DATASET_BYTES, parts: MAX_PARTS },
    });
  } catch {
    throw invalid('The multipart boundary is missing.');
  }
}

function isFieldName(name: string): name is FieldName {
  return FIELDS.some((field) => field === name);
}

function tooLarge() {
  return invalid('The dataset is larger than 600 MB.');
}
