import { CheckError, type CheckFailure } from './errors.ts';
import type { ProblemCode } from './problems.ts';
import { countProblems, verdictOf, type FileKind, type Format, type Report, type Verdict } from './report.ts';

/** What is said of a report where there is little room: plain values, for whoever makes sentences of them. */
export interface Summary {
  kind: FileKind;
  sizeBytes: number;
  mtimeMs: number;
  /** SHA-256 of the judged bytes, in hexadecimal. */
  sha256: string;
  verdict: Verdict;
  rows: number;
  /** Whether all rows are blank. */
  isBlank: boolean;
  format: Format | undefined;
  errors: number;
  /** API keys and private keys. */
  secrets: number;
  /** Warnings without the secrets. */
  warnings: number;
  /** Rows that are too long to be checked, among the warnings. */
  unchecked: number;
  emailAddresses: number;
  cardNumbers: number;
  /** An estimate without a tokenizer. */
  estimatedTokens: number;
}

/** Sums up a report. */
export function summaryOf(report: Report): Summary {
  const total = (...codes: ProblemCode[]) =>
    report.problems.reduce((sum, group) => sum + (codes.includes(group.code) ? group.total : 0), 0);
  const secrets = total('api-key', 'private-key');
  return {
    kind: report.kind,
    sizeBytes: report.sizeBytes,
    mtimeMs: report.mtimeMs,
    sha256: report.sha256,
    verdict: verdictOf(report),
    rows: report.rows,
    isBlank: report.rows === report.blankRows,
    format: report.format,
    errors: countProblems(report, { severity: 'error' }),
    secrets,
    // Line ends of Windows are one matter, on however many lines.
    warnings: countProblems(report, { severity: 'warning' }) - secrets - Math.max(total('crlf') - 1, 0),
    unchecked: total('row-too-long'),
    emailAddresses: total('email-address'),
    cardNumbers: total('card-number'),
    estimatedTokens: report.statistics.estimatedTokens,
  };
}

/** Waits for a check: the summary of its report, or why it came to no verdict. @throws CancelledError */
export async function summaryOrFailure(
  check: Promise<Report>,
  onFailure: (error: CheckError) => void,
): Promise<Summary | CheckFailure> {
  try {
    return summaryOf(await check);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    onFailure(error);
    return error.code;
  }
}
