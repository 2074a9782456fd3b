import type { ComparedSide } from './answerRow.ts';
import { MAX_CODE_POINTS } from './chrf.ts';
import type { AnswerScores, RowScores } from './scores.ts';

/** How answers are compared. Chosen from the expected answers alone. */
export type Measure = 'exact' | 'fields' | 'closer';

/**
 * The side that is ahead in a row. The same answers are equal. `failed`: a program failed; `cut`: an answer was cut off;
 * `trained`: its prompt was trained. None of these is compared.
 */
export type Lead = ComparedSide | 'equal' | 'failed' | 'cut' | 'trained';

/** What the sign test says of the rows where one side is ahead. */
type Chance =
  | { kind: 'too-few' }
  /** `p`: the probability of at least such a difference without a preference; `unlikely` up to 5 %. */
  | { kind: 'unlikely' | 'likely'; p: number };

/** A number for each side. */
type BySide = Readonly<Record<ComparedSide, number>>;

export interface Comparison {
  /** Rows without the trained ones, which no number counts. */
  rows: number;
  /** Rows in which a program failed. All other numbers except `rows` leave them out. */
  failed: number;
  /** Whether more than half of the other rows were cut off. Replaces all statistics. */
  isMostlyCutOff: boolean;
  measure: Measure;
  /** For each row, in order. */
  leads: readonly Lead[];
  /** Rows in which one is ahead. */
  ahead: BySide;
  equal: number;
  /** Rows where both sides have the same answer. */
  same: number;
  /** Whether both sides answer alike in 95% of at least five rows. Replaces all statistics. */
  isProbablyInactive: boolean;
  chance: Chance;
  exact: BySide & { readonly both: number };
  /** Undefined unless every expected answer is JSON. */
  validJson: BySide | undefined;
  /** Medians of the code points. */
  medianCharacters: BySide & { readonly expected: number };
  /** `rows`: those in which at least one was cut off. */
  cutOff: BySide & { readonly rows: number };
  /** Whether at least a tenth of the answers of a side were cut off. */
  isOftenCutOff: boolean;
  /** Whether more than half of the answers of a side begin with thinking. */
  isMostlyThinking: Readonly<Record<ComparedSide, boolean>>;
  /** Rows where chrF compared only the first characters, and how many; 0 rows if chrF isn't the measure. */
  shortened: { rows: number; characters: number };
}

/** Up to this median length of the expected answers, an answer is right or wrong. */
const EXACT_CHARACTERS = 40;
/** Points of chrF that make one side closer, with a tolerance for rounding. */
const CLOSER_POINTS = 1 - 1e-9;
const SAME_ROWS = 5;
const SAME_SHARE = 0.95;
const CUT_OFF_SHARE = 0.1;
const DECISIVE_ROWS = 6;
const UNLIKELY = 0.05;

/**
 * Compares the rows. Pure, and fast for the most rows that a file shows.
 * @param trained indexes of rows whose prompts were trained, so that they show nothing
 */
export function compareScores(all: readonly RowScores[], trained: ReadonlySet<number>): Comparison {
  const scores = all.filter((_, index) => !trained.has(index));
  const measure = measureOf(scores.map(({ expected }) => expected));
  const leads = all.map((row, index) => (trained.has(index) ? 'trained' : leadOf(row, measure)));
  const answered = scores.filter((row) => !hasFailed(row));
  const compared = answered.filter((row) => !isCut(row));
  const leading = (lead: Lead) => leads.filter((one) => one === lead).length;
  const count = (is: (row: RowScores) => boolean, rows = compared) => rows.filter(is).length;
  const bySide = (is: (answer: AnswerScores) => boolean, rows = compared) => ({
    base: count(({ base }) => is(base), rows),
    adapter: count(({ adapter }) => is(adapter), rows),
  });
  const ahead = { base: leading('base'), adapter: leading('adapter') };
  const same = count(({ isSame }) => isSame);
  const cutOff = bySide((answer) => answer.isCutOff, answered);
  const thinking = bySide(({ thinkingCharacters }) => thinkingCharacters > 0, answered);
  return {
    rows: scores.length,
    failed: scores.length - answered.length,
    isMostlyCutOff: 2 * compared.length < answered.length,
    measure,
    leads,
    ahead,
    equal: leading('equal'),
    same,
    isProbablyInactive: compared.length >= SAME_ROWS && same >= SAME_SHARE * compared.length,
    chance: chanceOf(ahead.base, ahead.adapter),
    exact: {
      ...bySide((answer) => isRight(answer, measure)),
      both: count(({ base, adapter }) => isRight(base, measure) && isRight(adapter, measure)),
    },
    validJson: measure === 'fields' ? bySide((answer) => answer.isJson) : undefined,
    medianCharacters: {
      base: median(compared.map(({ base }) => base.characters)),
      adapter: median(compared.map(({ adapter }) => adapter.characters)),
      expected: median(compared.map(({ expected }) => expected.characters)),
    },
    cutOff: { ...cutOff, rows: answered.length - compared.length },
    isOftenCutOff:
      answered.length > 0 && Math.max(cutOff.base, cutOff.adapter) >= CUT_OFF_SHARE * answered.length,
    isMostlyThinking: {
      base: 2 * thinking.base > answered.length,
      adapter: 2 * thinking.adapter > answered.length,
    },
    shortened: {
      rows: measure === 'closer' ? count(({ isShortened }) => isShortened) : 0,
      characters: MAX_CODE_POINTS,
    },
  };
}

/** Whether an answer is the expected one; of JSON, whether it has the same fields. */
export function isRight(answer: AnswerScores, measure: Measure): boolean {
  return answer.isExact || (measure === 'fields' && answer.hasSameFields);
}

/** Chooses the measure: JSON has fields, short expected answers are right or wrong, others are close. */
function measureOf(expected: readonly RowScores['expected'][]): Measure {
  if (expected.length === 0) return 'closer';
  if (expected.every(({ fields }) => fields !== undefined)) return 'fields';
  return median(expected.map(({ characters }) => characters)) <= EXACT_CHARACTERS ? 'exact' : 'closer';
}

function leadOf(row: RowScores, measure: Measure): Lead {
  if (hasFailed(row)) return 'failed';
  if (isCut(row)) return 'cut';
  // The same answers may differ in how their accents are composed.
  if (row.isSame) return 'equal';
  const points = ({ isExact, fieldsRight, chrf }: AnswerScores) =>
    ({ exact: Number(isExact), fields: fieldsRight, closer: chrf })[measure];
  const difference = points(row.adapter) - points(row.base);
  if (Math.abs(difference) < CLOSER_POINTS) return 'equal';
  return difference > 0 ? 'adapter' : 'base';
}

function hasFailed({ base, adapter }: RowScores): boolean {
  return base.hasFailed || adapter.hasFailed;
}

function isCut({ base, adapter }: RowScores): boolean {
  return base.isCutOff || adapter.isCutOff;
}

/** The mean of the middle two if their number is even; 0 without values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Returns the result of the sign test for two counts, unless both together are below six. */
export function chanceOf(one: number, other: number): Chance {
  if (one + other < DECISIVE_ROWS) return { kind: 'too-few' };
  const p = signTest(one, other);
  return { kind: p <= UNLIKELY ? 'unlikely' : 'likely', p };
}

/**
 * The exact two-sided sign test. If both sides are equally likely to be ahead, how probable is a difference
 * this large or larger? 2 · Σᵢ₌₀ᵏ C(n,i) / 2ⁿ, at most 1; k is the smaller count, n the sum.
 */
export function signTest(one: number, other: number): number {
  const n = one + other;
  const k = Math.min(one, other);
  // As a logarithm: neither C(n,k) nor 2ⁿ fits into a number. The sum is a multiple of its largest term.
  let logarithm = -n * Math.LN2;
  for (let i = 1; i <= k; i++) logarithm += Math.log((n - k + i) / i);
  let sum = 1;
  let term = 1;
  for (let i = k; i > 0; i--) sum += term *= i / (n - i + 1);
  return Math.min(1, 2 * Math.exp(logarithm) * sum);
}
