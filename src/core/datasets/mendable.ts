import { MAX_SPLIT_ROWS } from './split.ts';
import { TRAINING_FORMATS, type Format } from './formats.ts';
import { countOf, untrainableRows, type Report } from './report.ts';

/** What a prepared copy of a checked dataset can change, as far as its report shows it. */
export interface Mendable extends Pick<Report, 'untrainable'> {
  /** Rows that aren't blank. */
  rows: number;
  errorRows: number;
  /** Rows that can't be trained on. Leaving them out is proposed only if they are less than half of the rows. */
  untrainableRows: number;
  duplicateRows: number;
  apiKeys: number;
  privateKeys: number;
  emailAddresses: number;
  cardNumbers: number;
  /** Rows that become chat messages, by format, most common first. */
  convertible: readonly (readonly [Format, number])[];
  /** Rows of a format that can't be converted, most common first. */
  unconvertible: readonly (readonly [Format, number])[];
  /** Whether chat is the most common format, and all other rows have a format that can be converted. */
  convertsAll: boolean;
  canSplit: boolean;
  /** Blank rows, a byte order mark or CRs before line ends, which no copy has. */
  hasLitter: boolean;
}

const CONVERTIBLE: ReadonlySet<Format> = new Set(
  TRAINING_FORMATS.filter(({ toChat }) => toChat === 'turns' || toChat === 'pair').map(({ name }) => name),
);

export function mendableOf(report: Report): Mendable {
  const { blankRows, errorRows, untrainable, format, formats } = report;
  const rows = report.rows - blankRows;
  const others = (Object.keys(formats) as Format[])
    .filter((one) => one !== 'chat' && formats[one] > 0)
    .map((one) => [one, formats[one]] as const)
    .toSorted(([, one], [, other]) => other - one);
  const convertible = others.filter(([one]) => CONVERTIBLE.has(one));
  const unconvertible = others.filter(([one]) => !CONVERTIBLE.has(one));
  return {
    ...{ rows, errorRows, untrainable, convertible, unconvertible },
    untrainableRows: untrainableRows(report),
    duplicateRows: countOf(report, 'duplicate-row'),
    apiKeys: countOf(report, 'api-key'),
    privateKeys: countOf(report, 'private-key'),
    emailAddresses: countOf(report, 'email-address'),
    cardNumbers: countOf(report, 'card-number'),
    convertsAll: format === 'chat' && convertible.length > 0 && unconvertible.length === 0,
    canSplit: rows > 1 && rows <= MAX_SPLIT_ROWS,
    hasLitter: blankRows > 0 || countOf(report, 'bom-at-start', 'crlf') > 0,
  };
}

/**
 * Whether a copy masks secrets: those that were found, and what only a conversion makes readable.
 * @param chosen undefined if nobody was asked
 */
export function masksSecrets(
  { apiKeys, privateKeys }: Mendable,
  chosen: boolean | undefined,
  toChat: boolean,
): boolean {
  return chosen !== false && (apiKeys + privateKeys > 0 || toChat);
}

/** Whether a copy leaves out rows that can't be trained on, unless the user chooses otherwise. */
export function leavesOutUntrainable({ rows, untrainableRows }: Mendable): boolean {
  return untrainableRows > 0 && 2 * untrainableRows < rows;
}

/** Whether a row is left that has no errors and can be trained on. */
export function hasUsableRow(report: Report): boolean {
  return report.rows - report.blankRows > report.errorRows + untrainableRows(report);
}

/** Whether a copy mends a problem that the check reports, or can have chat messages instead of another format. */
export function isMendable(report: Report): boolean {
  if (report.kind !== 'rows') return false;
  const { errorRows, duplicateRows, ...found } = mendableOf(report);
  // Masks need no row that can be trained on.
  if (found.apiKeys + found.privateKeys + found.emailAddresses + found.cardNumbers > 0) return true;
  const hasProblems = found.hasLitter || errorRows + found.untrainableRows + duplicateRows > 0;
  return hasUsableRow(report) && (hasProblems || found.convertible.length > 0);
}
