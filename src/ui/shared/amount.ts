/**
 * Cents with two decimals, as the language groups and points them; undefined where the number is none. The service's
 * amounts are integers of cents (spec: "Balance"); should one not be, they are rounded, half a cent away from zero.
 */
export function amountText(cents: number, language: string): string | undefined {
  if (!Number.isFinite(cents)) return undefined;
  const whole = BigInt(Math.round(Math.abs(cents)));
  const sign = cents < 0 && whole > 0n ? '-' : '';
  const decimals = String(whole % 100n).padStart(2, '0');
  // As a text: a number would lose the cents of a large amount.
  const exact = `${sign}${whole / 100n}.${decimals}` as `${number}`;
  return new Intl.NumberFormat(language, { minimumFractionDigits: 2 }).format(exact);
}
