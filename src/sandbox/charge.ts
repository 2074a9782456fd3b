import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CURRENCY, findModel } from './catalog.ts';
import { planRun } from './runs.ts';
import { jsonReply, refuse, type Reply } from './server.ts';
import type { Course, Service } from './service.ts';
import { fingerprint, readSubmission, type SubmissionForm } from './submission.ts';

/**
 * Prices, charges, and queues a run. Also looks up and records the Idempotency-Key, all in one transaction. So windows
 * that race with the same key charge once.
 * @returns the response, and whether it repeats an earlier one: then nothing is charged now
 * @throws RefusedRequest; nothing is charged, and the Idempotency-Key is as before
 */
function chargeRun(service: Service, submission: SubmissionForm) {
  const { store, now, priceOf } = service;
  return store.transaction(() => {
    const { scenario, speed, balance_cents: balanceCents } = store.account;
    const { idempotencyKey, modelId, label, priority, dataset } = submission;
    const createdAt = now();
    const request = fingerprint(submission);
    const firstUse = idempotencyKey && store.firstUse(idempotencyKey, createdAt);
    if (firstUse) {
      // The contract doesn't define the response to a repeat. Send the first one again.
      if (firstUse.fingerprint === request) return { creation: firstUse.answer, isRepeat: true };
      throw refuse('idempotency_conflict', 'The Idempotency-Key was already used with different parameters.');
    }
    if (!findModel(modelId)?.listed.available)
      throw refuse('model_not_available', 'The model is not available in the sandbox.');
    const { cents, plan } = priceOf(dataset.bytes, priority);
    if (cents > balanceCents || scenario === 'insufficient-balance')
      throw refuse('insufficient_balance', "The sandbox's balance does not cover this run.");
    const course: Course = scenario === 'failed-run' || scenario === 'short-retention' ? scenario : 'plain';
    const run = {
      run_id: randomUUID(),
      model_id: modelId,
      label,
      price_cents: cents,
      plan,
      ...planRun(createdAt, dataset.bytes, priority, speed),
      course,
    };
    store.insertRun(run);
    const creation = {
      run_id: run.run_id,
      status: 'queued',
      price_cents: cents,
      currency: CURRENCY,
      balance_after_cents: store.addToBalance(-cents),
      plan_name: plan,
    };
    if (idempotencyKey)
      store.recordFirstUse(idempotencyKey, { fingerprint: request, answer: creation }, createdAt);
    return { creation, isRepeat: false };
  });
}

/** POST /runs. @throws RefusedRequest, ClientGone */
export async function submitRun(service: Service, request: IncomingMessage): Promise<Reply> {
  const submission = await readSubmission(request);
  if (
    service.store.account.scenario === 'connection-lost' &&
    service.everyOther.strikes(`connection-lost ${submission.idempotencyKey ?? ''}`)
  )
    return { ...jsonReply(201, {}), fault: 'no-answer' };
  const { creation, isRepeat } = chargeRun(service, submission);
  const reply = jsonReply(201, creation);
  const isLost = service.store.account.scenario === 'answer-lost' && !isRepeat;
  return isLost ? { ...reply, fault: 'no-answer' } : reply;
}
