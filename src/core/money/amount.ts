/** ISO 4217's currencies without a smaller unit. */
const WITHOUT_DECIMALS = /^(?:BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF)$/;

/**
 * Returns cents as a number with two decimals, such as `1234.50`. Zero decimals are left out for currencies
 * without decimals. The service's amounts are integers (spec: "Balance"); halves are rounded away from zero.
 */
export function plainAmount(cents: number, currency?: string): `${number}` {
  const whole = BigInt(Math.round(Math.abs(cents)));
  const sign = cents < 0 && whole > 0n ? '-' : '';
  const decimals = String(whole % 100n).padStart(2, '0');
  const isWhole = decimals === '00' && WITHOUT_DECIMALS.test(currency ?? '');
  return `${sign}${whole / 100n}${isWhole ? '' : `.${decimals}`}` as `${number}`;
}

/** Parses an amount entered by the user, with a point or comma before its cents; undefined if it is invalid. */
export function parseAmount(text: string): number | undefined {
  const [, whole, cents = ''] = /^(\d{1,9})(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : Number(whole) * 100 + Number(cents.padEnd(2, '0'));
}
