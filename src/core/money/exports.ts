import type { ChargedRun } from './spending.ts';

/** Undefined if unknown. */
type Value = string | number | boolean | undefined;

/** The exported columns of a run. Amounts are integer cents; times are ISO 8601 in UTC. */
const COLUMNS: Readonly<Record<string, (run: ChargedRun) => Value>> = {
  run_id: ({ runId }) => runId,
  created_at: ({ createdAtMs }) =>
    createdAtMs === undefined ? undefined : new Date(createdAtMs).toISOString(),
  status: ({ status }) => status,
  model_id: ({ modelId }) => modelId,
  label: ({ label }) => label,
  queue: ({ receipt }) => receipt && (receipt.priority_processing ? 'priority' : 'standard'),
  plan: ({ plan }) => plan,
  price_cents: ({ priceCents }) => wholeCents(priceCents),
  currency: ({ priceCents, currency }) => (priceCents === undefined ? undefined : currency),
  currency_assumed: ({ isCurrencyAssumed }) => isCurrencyAssumed,
  balance_before_cents: ({ receipt }) => wholeCents(receipt?.balanceBefore?.balance_cents),
  balance_after_cents: ({ receipt }) => wholeCents(receipt?.charge.run.balance_after_cents),
  dataset_path: ({ receipt }) => receipt?.dataset.path,
  dataset_sha256: ({ receipt }) => receipt?.dataset.sha256,
  dataset_bytes: ({ receipt }) => receipt?.dataset.sizeBytes,
  dataset_rows: ({ receipt }) => receipt?.dataset.rows,
  dataset_characters: ({ receipt }) => receipt?.dataset.characters,
  terms_accepted_at: ({ receipt }) => receipt?.consents.model_terms.accepted_at,
  terms_urls: ({ receipt }) => receipt?.consents.model_terms.urls.join(' '),
  data_policy_accepted_at: ({ receipt }) => receipt?.consents.data_policy.accepted_at,
};

/** Returns CSV (RFC 4180) with a header. */
export function toCsv(runs: readonly ChargedRun[]): string {
  const rows = runs.map((run) => Object.values(COLUMNS).map((valueOf) => valueOf(run)));
  return [Object.keys(COLUMNS), ...rows].map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
}

/**
 * The characters before the first visible one of a cell. A spreadsheet may drop blanks, control characters and quotes
 * when it reads the file, and may begin a cell at `;` or a tab.
 */
const BEFORE_CELL = /(?:^|[;\t\r\n])(?:(?![;\t\r\n])["\p{C}\p{Z}\p{DI}])*(?=([^;\t\r\n]))/gu;

function csvField(value: Value): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  // Labels are untrusted text, and spreadsheets run formulas, some even in full-width characters.
  const text = value
    .replace(BEFORE_CELL, (before: string, first: string) =>
      /^[=+\-@]/.test(first.normalize('NFKC')) ? `${before}'` : before,
    )
    .replace(/^(?=[\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The service's amounts are integers (spec: "Balance"). Any other amount is rounded as on screen. */
function wholeCents(cents: number | undefined): number | undefined {
  if (cents === undefined) return undefined;
  return Math.sign(cents) * Math.round(Math.abs(cents)) || 0;
}
