import type { RunSubmission } from './types.ts';

/** A submission as multipart/form-data (RFC 7578) without the dataset's bytes, which stand between head and tail. */
export interface Multipart {
  contentType: string;
  head: Uint8Array;
  /** The closing boundary: without it the service has no request. */
  tail: Uint8Array;
}

/**
 * Encodes the fields of POST /runs, in a fixed order and the file part last, by the HTML standard's
 * "multipart/form-data encoding algorithm". The same submission always gives the same bytes.
 * @throws TypeError when the boundary is none
 */
export function encodeMultipart(submission: RunSubmission): Multipart {
  const { boundary, dataset } = submission;
  if (!/^[\w-]{1,70}$/.test(boundary)) throw new TypeError('not a multipart boundary');
  const fields: [name: string, value: string][] = [
    ['model_id', submission.model_id],
    ...(submission.label ? [['label', submission.label] as [string, string]] : []),
    ['model_terms_accepted', String(submission.model_terms_accepted)],
    ['data_policy_accepted', String(submission.data_policy_accepted)],
    ['priority_processing', String(submission.priority_processing)],
  ];
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${withCrlf(value)}\r\n`,
  );
  const filePart =
    `--${boundary}\r\nContent-Disposition: form-data; name="dataset"; filename="${escaped(dataset.filename)}"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n';
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(parts.join('') + filePart),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function withCrlf(value: string): string {
  return value.replace(/\r\n?|\n/g, '\r\n');
}
