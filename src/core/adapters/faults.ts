import { ExpectedError } from '../base/errors.ts';
import type { ArchiveFault, Verdict, VerdictCode } from './report.ts';
import { printable } from './printable.ts';

/** An archive, or a safetensors file, is not what its format demands, is made to harm, or is beyond a cap. */
export class BrokenArchiveError extends ExpectedError {
  readonly code: ArchiveFault;
  /** The entry it is about, printable. */
  readonly entry: string | undefined;

  constructor(code: ArchiveFault, entry?: string) {
    super(`the archive is not taken: ${code}`);
    this.code = code;
    this.entry = entry === undefined ? undefined : printable(entry);
  }
}

const CODES: Readonly<Record<ArchiveFault, VerdictCode>> = {
  truncated: 'broken',
  'zip-no-end': 'broken',
  'zip-directory': 'broken',
  'zip-local-header': 'broken',
  'zip-disagreement': 'broken',
  'zip-crc': 'broken',
  'zip-length': 'broken',
  'gzip-data': 'broken',
  'tar-header': 'broken',
  'tar-checksum': 'broken',
  'safetensors-header': 'broken',
  'safetensors-offsets': 'broken',
  'safetensors-length': 'broken',
  'data-after-end': 'broken',
  'path-outside': 'unsafe',
  'path-absolute': 'unsafe',
  'path-odd': 'unsafe',
  link: 'unsafe',
  device: 'unsafe',
  duplicate: 'unsafe',
  'case-collision': 'unsafe',
  overlap: 'unsafe',
  ratio: 'unsafe',
  encrypted: 'encrypted',
  method: 'unsupported',
  'too-many-entries': 'too-big',
  'too-large': 'too-big',
  'header-too-large': 'too-big',
};

/** What such an error says of the file. */
export function verdictOf({ code, entry }: BrokenArchiveError): Verdict {
  return { code: CODES[code], fault: code, ...(entry === undefined ? {} : { entry }) };
}
