import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { STARTING_BALANCE_CENTS } from './pricing.ts';
import { DEFAULT_SPEED, type Scenario } from './scenarios.ts';

interface AccountRow {
  account_id: string;
  signing_secret: Uint8Array;
  balance_cents: number;
  scenario: Scenario;
  speed: number;
}

/** The sandbox's one account: its balance, and the scenario and clock speed that all windows share. */
export class Account {
  readonly id: string;
  /** Signs download addresses; the same in all windows, so each honours the others' signatures. */
  readonly signingSecret: Uint8Array;
  readonly #read: StatementSync;
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#read = database.prepare('SELECT * FROM account');
    const row = this.#row();
    this.id = row.account_id;
    this.signingSecret = row.signing_secret;
  }

  get balanceCents(): number {
    return this.#row().balance_cents;
  }

  get scenario(): Scenario {
    return this.#row().scenario;
  }

  get speed(): number {
    return this.#row().speed;
  }

  /** Adds to the balance (a charge is negative) and returns the new one, in cents. */
  add(cents: number): number {
    this.#database.prepare('UPDATE account SET balance_cents = balance_cents + ?').run(cents);
    return this.balanceCents;
  }

  setScenario(scenario: Scenario): void {
    this.#database.prepare('UPDATE account SET scenario = ?').run(scenario);
  }

  setSpeed(speed: number): void {
    this.#database.prepare('UPDATE account SET speed = ?').run(speed);
  }

  reset(): void {
    this.#database
      .prepare('UPDATE account SET balance_cents = ?, scenario = ?, speed = ?')
      .run(STARTING_BALANCE_CENTS, 'none', DEFAULT_SPEED);
  }

  #row(): AccountRow {
    return this.#read.get() as unknown as AccountRow;
  }
}
