import { l10n } from 'vscode';
import type { ComparedSide } from '../../core/answers/answersFile.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import type { ShownAnswers } from './answersDocument.ts';

/** The names of a page's two sides. */
export interface Sides {
  /** The name of the file, or of both. */
  title: string;
  /** In headings, and where a sentence begins. */
  names: Readonly<Record<ComparedSide, string>>;
  /** The name of `base` on buttons. */
  shortBase: string;
  /** The name of `base` within a sentence. */
  inside: string;
  /** Whether they are the adapters of two files. */
  arePaired: boolean;
}

const ENDINGS = /(\.answers)?\.(jsonl|ndjson)$/i;

/**
 * One file compares the base model and an adapter. Two files are named by the labels of their runs, or else by their
 * own names.
 * @param files names of the files, sanitized
 */
export function sidesOf([one = '', other]: readonly string[], runs: ShownAnswers['runs'] = []): Sides {
  if (other === undefined)
    return {
      title: one,
      names: { base: l10n.t('Base model'), adapter: l10n.t('Adapter') },
      ...{ shortBase: l10n.t('Base'), inside: l10n.t('base model'), arePaired: false },
    };
  const [first, second] = [one.replace(ENDINGS, ''), other.replace(ENDINGS, '')];
  const named = [runs[0]?.label ?? first, runs[1]?.label ?? second] as const;
  const alike = [l10n.t('{0} (first)', first), l10n.t('{0} (second)', second)] as const;
  const [base, adapter] = [named, [first, second] as const].find(([a, b]) => a !== b) ?? alike;
  const title = `${base} ↔ ${adapter}`;
  return { title, names: { base, adapter }, shortBase: base, inside: base, arePaired: true };
}

/** Says how two files differ. */
export function pairNotices(
  { file, pairs }: Pick<ShownAnswers, 'file' | 'pairs'>,
  { names }: Sides,
): string[] {
  if (pairs === undefined) return [];
  const { only, baseDiffers } = pairs;
  const { length } = file.rows;
  const more = [names.base, formatCount(only.adapter), names.adapter] as const;
  return compact(
    only.base + only.adapter > 0 &&
      (only.base === 1
        ? l10n.t('1 row is only in {0}, {1} only in {2}.', ...more)
        : l10n.t('{0} rows are only in {1}, {2} only in {3}.', formatCount(only.base), ...more)),
    length >= MIN_ROWS &&
      baseDiffers >= MIN_SHARE * length &&
      l10n.t(
        'The base model’s answers differ in {0} of {1}. The two files may have been made with different versions or settings.',
        formatCount(baseDiffers),
        formatRows(length),
      ),
  );
}

/** Fewer, or a smaller share of them, can be chance. */
const MIN_ROWS = 5;
const MIN_SHARE = 0.05;
