import { env, l10n } from 'vscode';
import { lazyBy } from '../../core/base/async.ts';
import { instantOf } from '../../core/base/clock.ts';
import { plainAmount } from '../../core/money/amount.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './terms.ts';

/** A currency code has three letters, but the service may send a longer text. */
export const MAX_CURRENCY_UNITS = 12;

/** Cached by language: creating formats takes 200 times as long as using them, and pages use hundreds. */
const formats = lazyBy((language) => ({
  time: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(language, { dateStyle: 'medium' }),
  dayOfYear: new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric' }),
  timeOfDay: new Intl.DateTimeFormat(language, { timeStyle: 'short' }),
  seconds: new Intl.DateTimeFormat(language, { timeStyle: 'medium' }),
  count: new Intl.NumberFormat(language),
  percent: new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }),
  amount: new Intl.NumberFormat(language, { minimumFractionDigits: 2 }),
}));

/**
 * Formats an amount with its currency code. `Intl.NumberFormat` would throw on a code without three letters,
 * and would choose the decimals by the currency, although the service always sends cents.
 */
export function formatMoney(cents: number | undefined, currency?: string): string {
  const amount = formatAmount(cents, currency);
  if (currency === undefined || amount === TERMS.unknown) return amount;
  return `${amount} ${sanitizeServiceText(currency, MAX_CURRENCY_UNITS)}`;
}

/** Formats an amount without its currency code; a later amount on the line has it. */
export function formatAmount(cents: number | undefined, currency: string | undefined): string {
  return (cents === undefined ? undefined : amountText(cents, env.language, currency)) ?? TERMS.unknown;
}

export function notAnAmount(): string {
  return l10n.t('Enter an amount such as 20 or 12.50.');
}

/** Formats a price without a currency, assuming that of the balance. */
export function formatPrice(cents: number, currency: string | undefined): string {
  return currency === undefined
    ? l10n.t('{0} (currency unknown)', formatMoney(cents))
    : l10n.t('{0} (currency assumed from the balance)', formatMoney(cents, currency));
}

export function formatBytes(bytes: number): string {
  if (bytes === 1) return l10n.t('1 byte');
  if (bytes < 1_000) return l10n.t('{0} bytes', bytes);
  // What would round to 1000.0 has the next unit.
  const unit = bytes < 999_950 ? 'kB' : bytes < 999_950_000 ? 'MB' : 'GB';
  return `${(bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit]).toFixed(1)} ${unit}`;
}

/** Formats a duration as `45 s`, `3 min`, `2 h 5 min`, or `4 d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return l10n.t('{0} s', seconds);
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return l10n.t('{0} min', minutes);
  const hours = Math.floor(minutes / 60);
  if (hours < 48)
    return minutes % 60 === 0 ? l10n.t('{0} h', hours) : l10n.t('{0} h {1} min', hours, minutes % 60);
  return l10n.t('{0} d', Math.round(hours / 24));
}

/** Formats a duration in one unit, rounded down: `45 s`, `3 min`, `21 h`, `6 days`. */
export function formatRoughly(ms: number): string {
  const unitMs = ms < 60_000 ? 1_000 : ms < 3_600_000 ? 60_000 : 3_600_000;
  if (ms < 48 * 3_600_000) return formatDuration(ms - (ms % unitMs));
  return l10n.t('{0} days', Math.floor(ms / 86_400_000));
}

/** Like `formatRoughly`, but days are rounded to the nearest: an adapter that is kept for 7 days begins with `7 days`. */
export function formatLeft(ms: number): string {
  const days = Math.round(ms / 86_400_000);
  return ms < 48 * 3_600_000 ? formatRoughly(ms) : l10n.t('{0} days', days);
}

export function formatAgo(timeMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - timeMs) / 60_000);
  if (minutes < 1) return TERMS.justNow;
  if (minutes < 60) return l10n.t('{0} min ago', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? l10n.t('{0} h ago', hours) : l10n.t('{0} d ago', Math.floor(hours / 24));
}

/** Formats a service's time in the user's zone and language, with no line end before PM; an invalid one is sanitized. */
export function formatTime(text: string | number): string {
  const timeMs = typeof text === 'number' ? text : instantOf(text);
  if (Number.isNaN(timeMs)) return sanitizeServiceText(String(text));
  return formatDate(timeMs, 'time').replace(/ (?=\D+$)/, '\u00a0');
}

export function formatDay(timeMs: number): string {
  return formatDate(timeMs, 'day');
}

/** Formats a day, without the current year. */
export function formatShortDay(timeMs: number, nowMs: number): string {
  const isThisYear = new Date(timeMs).getFullYear() === new Date(nowMs).getFullYear();
  return formatDate(timeMs, isThisYear ? 'dayOfYear' : 'day');
}

/** Formats the time of day, with the date unless it is today. */
export function formatMoment(timeMs: number, nowMs: number): string {
  const isToday = new Date(timeMs).toDateString() === new Date(nowMs).toDateString();
  return isToday ? formatDate(timeMs, 'timeOfDay') : formatTime(timeMs);
}

/** Formats times of day, with seconds if two are in the same minute. */
export function formatTimesOfDay(timesMs: readonly number[]): string[] {
  const minutes = new Set(timesMs.map((timeMs) => Math.floor(timeMs / 60_000)));
  const style = minutes.size < timesMs.length ? 'seconds' : 'timeOfDay';
  return timesMs.map((timeMs) => formatDate(timeMs, style));
}

/** Removes the direction marks in Arabic and Hebrew dates, which notifications would show as `<U+200F>`. */
function formatDate(timeMs: number, style: 'time' | 'day' | 'dayOfYear' | 'timeOfDay' | 'seconds'): string {
  return formats(env.language)
    [style].format(timeMs)
    .replace(/[\u200e\u200f\u061c]/g, '');
}

export function formatCount(count: number): string {
  return formats(env.language).count.format(count);
}

/** Like `formatPercent`, for sentences that add the sign. */
export function percentOf(count: number, sum: number): string {
  return formatPercent(count / Math.max(1, sum)).replace(/\s?%/, '');
}

/** Rounds to a tenth of a percent, but to 0 or 100 only if exact. */
export function formatPercent(share: number): string {
  const { percent } = formats(env.language);
  if (share > 0 && share < 0.001) return `< ${percent.format(0.001)}`;
  return share > 0.999 && share < 1 ? `> ${percent.format(0.999)}` : percent.format(share);
}

export function formatShare(count: number, sum: number): string {
  return l10n.t('{0} ({1})', formatCount(count), formatPercent(count / Math.max(1, sum)));
}

export function formatRows(count: number): string {
  return count === 1 ? l10n.t('1 row') : l10n.t('{0} rows', formatCount(count));
}

export function formatRuns(count: number): string {
  return count === 1 ? l10n.t('1 run') : l10n.t('{0} runs', formatCount(count));
}

/** Formats cents in the language's style; undefined if the number is not finite. */
export function amountText(cents: number, language: string, currency?: string): string | undefined {
  if (!Number.isFinite(cents)) return undefined;
  // As a string: a number would lose the cents of a large amount.
  const exact = plainAmount(cents, currency);
  return formats(language)[exact.includes('.') ? 'amount' : 'count'].format(exact);
}

/** Drops missing and empty parts of a list or a line. */
export function compact<T>(...parts: readonly (T | undefined | false | '')[]): T[] {
  return parts.filter((part) => part !== undefined && part !== false && part !== '') as T[];
}

export function sandboxNote(): string {
  return l10n.t('Sandbox: no training, no charges.');
}

/** Marks a notification as being about the sandbox. */
export function inSandbox(text: string, isSandbox: boolean): string {
  return isSandbox ? l10n.t('Sandbox: {0}', text) : text;
}
