import type { Sabotage } from './bundle.ts';
import type { CellSpec } from './cellSpec.ts';

/** A way to break the product, a cell in which it does harm, and what the harness has to say of it. */
export interface Trial {
  name: string;
  sabotages: readonly Sabotage[];
  cell: Partial<CellSpec>;
  expected: RegExp;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const series = (from: string, to: string): Sabotage => ({ file: 'src/core/submission/series.ts', from, to });
const nextStep = (from: string, to: string): Sabotage => ({
  file: 'src/core/submission/nextStep.ts',
  from,
  to,
});
const look = (from: string, to: string): Sabotage => ({ file: 'src/core/submission/look.ts', from, to });
const judge = (from: string, to: string): Sabotage => ({ file: 'src/core/submission/judge.ts', from, to });
const journal = (from: string, to: string): Sabotage => ({
  file: 'src/core/submission/journal.ts',
  from,
  to,
});

/** Each breaks one thing that keeps a charge from happening twice, or the person from being told what is not true. */
export const TRIALS: readonly Trial[] = [
  {
    name: 'a new Idempotency-Key on retry',
    sabotages: [
      series(
        'idempotencyKey: intent.id,',
        'idempotencyKey: intent.attempts.length > 1 ? globalThis.crypto.randomUUID() : intent.id,',
      ),
    ],
    cell: { faults: ['reset after body, processed'] },
    expected: /^I3: .* new Idempotency-Key|^I1: one wish was charged 2 times/,
  },
  {
    name: 'journal after send',
    sabotages: [
      journal(
        'this.#replace(intent.id, await this.#folder.put(intent));',
        'this.#replace(intent.id, intent); setTimeout(() => void this.#folder.put(intent).catch(() => undefined), 2000);',
      ),
    ],
    cell: { faults: ['reset after body, processed'], crashes: [{ point: 'sent' }] },
    expected: /^I1: one wish was charged 2 times/,
  },
  {
    name: 'no digest check',
    sabotages: [
      {
        file: 'src/core/api/upload.ts',
        from: '(await expected.digest.read()) !== expected.sha256',
        to: '(await expected.digest.read()) === ""',
      },
    ],
    cell: { crashes: [{ point: 'marked as sending' }], datasetBecomes: 'other' },
    expected: /^I2: .* other bytes/,
  },
  {
    name: '402 trusted after an ambiguous attempt',
    sabotages: [nextStep("series.closedBefore ? { kind: 'reconcile', waitMs: 0 } : ", '')],
    cell: { faults: ['reset after body, processed', '402'] },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'the local clock in reconcile',
    sabotages: [look('serviceMs: moment.localMs + clockSkewMs', 'serviceMs: moment.localMs')],
    cell: {
      faults: ['404, processed'],
      person: 'checks',
      wallOffsetMs: 3 * YEAR_MS,
      addsFunds: true,
    },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'no lease check',
    sabotages: [
      {
        file: 'src/core/storage/lease.ts',
        from: 'identityOf(this.file) === this.#identity',
        to: 'true',
      },
    ],
    cell: { crashes: [{ point: 'mid-body' }], second: 'lock lost' },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'the closing boundary released before its mark is durable',
    sabotages: [
      series(
        'closed: this.#moment(client) }));\n    await this.#journal.write(this.#lease, this.#intent);',
        'closed: this.#moment(client) }));',
      ),
    ],
    cell: { faults: ['reset after body, processed'], crashes: [{ point: 'sent' }] },
    expected: /^I4: shown as unsent/,
  },
  {
    name: 'looks count before the 15 minutes are over',
    sabotages: [judge('PRICING_MS = 15 * 60_000', 'PRICING_MS = 0')],
    cell: {
      faults: ['reset after body, processed late'],
      crashes: [{ point: 'sent' }],
      person: 'checks',
    },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'one look is enough',
    sabotages: [judge('BETWEEN_LOOKS_MS = 2 * 60_000', 'BETWEEN_LOOKS_MS = 0')],
    cell: {
      faults: ['reset after body, processed late'],
      crashes: [{ point: 'sent' }],
      person: 'checks',
      listLagMs: 100_000,
      addsFunds: true,
      lookAfterMs: 0,
    },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'sent again with another API key',
    sabotages: [series('if (client.keyId !== intent.keyId) throw new KeyReplacedError();', '')],
    cell: {
      faults: ['reset after body, not processed'],
      crashes: [{ point: 'sent' }],
      replacesKey: true,
    },
    expected: /^I6: .* another API key/,
  },
  {
    name: 'sent to another account',
    sabotages: [
      {
        file: 'src/core/submission/submitter.ts',
        from: 'if (accountId === session.account.id && origin === placeOf(session.account)) return owned;',
        to: 'if (accountId !== origin) return owned;',
      },
    ],
    cell: { crashes: [{ point: 'marked as sending' }], otherAccount: true },
    expected: /^I6: it was sent to another account/,
  },
  {
    name: 'Retry-After ignored',
    sabotages: [
      nextStep('error instanceof TooEarlyError ? error.retryAfterMs : retryAfterOf(error)', '0'),
      {
        file: 'src/core/api/rateGate.ts',
        from: 'if (remainingMs > 0) throw',
        to: 'if (remainingMs < 0) throw',
      },
    ],
    cell: { faults: ['429 seconds', '503', '429 date'] },
    expected: /^I7: .* before the Retry-After/,
  },
  {
    name: 'no end of attempts',
    sabotages: [{ file: 'src/core/base/retry.ts', from: 'retries: 4,', to: 'retries: 49,' }],
    cell: {
      faults: ['refused', 'refused', 'refused', 'refused', 'refused', 'refused', 'refused', 'refused'],
    },
    expected: /^I7: \d+ attempts/,
  },
  {
    name: 'an open intent is not opened',
    sabotages: [journal('if (existing !== undefined) return { existing };', '')],
    cell: {
      faults: ['reset after body, processed'],
      crashes: [{ point: 'sent' }],
      person: 'impatient',
    },
    expected: /^I3: /,
  },
  {
    name: 'the intent removed before its receipt is written',
    sabotages: [
      journal(
        'await this.#folder.putReceipt(receipt);',
        'await this.#folder.remove(receipt.id); await this.#folder.putReceipt(receipt);',
      ),
    ],
    cell: { crashes: [{ point: 'receipt in a temporary file' }] },
    expected: /^I1: one wish was charged 2 times/,
  },
  {
    name: '409 taken for a refusal',
    sabotages: [nextStep('new Set([401, 402, 422])', 'new Set([401, 402, 409, 422])')],
    cell: { faults: ['409, processed'] },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'a cancelled submission counts as not charged',
    sabotages: [
      nextStep(
        "return closed ? { kind: 'reconcile', waitMs: 0 } : { kind: 'dropped' };",
        "return { kind: 'dropped' };",
      ),
    ],
    cell: {
      faults: ['header timeout, processed'],
      cancelAt: 'validating',
      cancelBy: 'abort',
    },
    expected: /^I4: .* not charged, but/,
  },
  {
    name: 'sent again after 23 hours',
    sabotages: [
      {
        file: 'src/core/submission/sendingWindow.ts',
        from: 'if (Math.max(serviceMs, passedMs(first, now) ?? 0) >= RESEND_MS) throw new WindowClosedError();',
        to: '',
      },
    ],
    cell: {
      mode: 'forgets',
      faults: ['reset after body, processed'],
      crashes: [{ point: 'sent' }],
      sleepMs: 25 * HOUR_MS,
      withoutDetails: true,
    },
    expected: /^I1: one intent was charged 2 times/,
  },
  {
    name: 'the service’s words kept as a code',
    sabotages: [
      {
        file: 'src/core/api/answer.ts',
        from: "CODE.test(code) && !code.includes(secret) ? code : 'unknown'",
        to: 'code',
      },
    ],
    cell: { faults: ['500, telling code'] },
    expected: /^I5: row in /,
  },
];
