/** Currency of every price and of the balance. */
export const CURRENCY = 'USD';

/** The plan under which all runs are priced. It includes no priority processing. */
export const PLAN_NAME = 'Sandbox (nothing is trained)';

/**
 * The balance of a new or reset sandbox: 1,000.00 USD of play money. It pays the largest dataset once, with priority
 * processing too (945.23), and not twice, so that running out of money can be met.
 */
export const STARTING_BALANCE_CENTS = 100_000;

const BASE_CENTS = 100;
const BYTES_PER_CENT = 10_000;

/**
 * The price of a run in cents: 1.00, and 0.01 for each 10,000 bytes of the dataset or part of them; with priority
 * processing half as much again, rounded up. The model does not affect the price (spec: "What the service does").
 */
export function priceCents(datasetBytes: number, priority: boolean): number {
  const cents = BASE_CENTS + Math.ceil(datasetBytes / BYTES_PER_CENT);
  return priority ? Math.ceil((cents * 3) / 2) : cents;
}
