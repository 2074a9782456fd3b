import assert from 'node:assert/strict';
import type { Attempt } from '../../../../src/core/submission/intent.ts';
import {
  assertMayResend,
  ClocksDisagreeError,
  WindowClosedError,
} from '../../../../src/core/submission/nextStep.ts';
import { sampleIntent } from '../../../helpers/runs/sampleIntent.ts';
import { HOUR, MINUTE } from '../../../helpers/runs/stage.ts';

const FIRST_MS = Date.UTC(2031, 0, 1);
const at = (serviceMs: number | undefined, localMs = 1) => ({
  localMs,
  ...(serviceMs !== undefined && { serviceMs }),
});
/** Sent at FIRST_MS, and its closing boundary released. */
const closed: Attempt = { started: at(FIRST_MS), closed: at(FIRST_MS + MINUTE) };

describe('assertMayResend', () => {
  const resend = (attempts: Attempt[], serviceMs: number | undefined, localMs?: number) => () =>
    assertMayResend(sampleIntent({ attempts }), at(serviceMs, localMs));

  it('lets it go until 23 hours after the first attempt, to the millisecond', () => {
    for (const afterMs of [0, 2 * MINUTE, 22 * HOUR, 23 * HOUR - 1]) resend([closed], FIRST_MS + afterMs)();
    for (const afterMs of [23 * HOUR, 23 * HOUR + 1, 24 * HOUR, 25 * HOUR, 1000 * HOUR])
      assert.throws(resend([closed], FIRST_MS + afterMs), WindowClosedError);
  });

  it('counts from the first attempt, whichever of them was closed', () => {
    const second: Attempt = { started: at(FIRST_MS + 10 * HOUR), closed: at(FIRST_MS + 10 * HOUR) };
    const open: Attempt = { started: at(FIRST_MS) };
    for (const attempts of [
      [closed, second],
      [open, second],
      [closed, { started: at(FIRST_MS + 10 * HOUR) }],
    ]) {
      resend(attempts, FIRST_MS + 23 * HOUR - 1)();
      assert.throws(resend(attempts, FIRST_MS + 23 * HOUR), WindowClosedError);
    }
  });

  it('has no clock but the service’s', () => {
    resend([closed], FIRST_MS + HOUR, FIRST_MS + 1000 * HOUR)();
    assert.throws(resend([closed], FIRST_MS + 30 * HOUR, FIRST_MS), WindowClosedError);
    assert.throws(resend([closed], undefined, FIRST_MS + HOUR), ClocksDisagreeError);
    assert.throws(resend([{ ...closed, started: at(undefined) }], FIRST_MS + HOUR), ClocksDisagreeError);
  });

  it('stops where the service’s time went back by more than a quarter of an hour', () => {
    resend([closed], FIRST_MS - 15 * MINUTE)();
    assert.throws(resend([closed], FIRST_MS - 15 * MINUTE - 1), ClocksDisagreeError);
    assert.throws(resend([closed], FIRST_MS - 1000 * HOUR), ClocksDisagreeError);
  });

  it('has nothing to say where nothing can have been charged', () => {
    for (const attempts of [[], [{ started: at(FIRST_MS) }], [{ started: at(undefined) }]])
      for (const serviceMs of [FIRST_MS + 1000 * HOUR, FIRST_MS - 1000 * HOUR, undefined])
        resend(attempts, serviceMs)();
  });
});
