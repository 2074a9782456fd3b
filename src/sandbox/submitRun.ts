import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { chargeRun } from './charge.ts';
import { jsonReply, type Reply } from './reply.ts';
import { DEFAULT_SPEED, type Scenario } from './scenarios.ts';
import type { Service } from './service.ts';
import { readSubmission } from './submission.ts';

/** How long the scenario `slow-answer` waits at the default clock speed. */
const SLOW_ANSWER_MS = 20_000;

/** Scenarios in which a charge is not answered: what a repeat of its Idempotency-Key gets differs. */
const LOSES_ANSWER: ReadonlySet<Scenario> = new Set(['answer-lost', 'conflict-on-replay', 'error-on-replay']);

/** POST /runs. @throws Refusal @throws ClientGone */
export async function submitRun(service: Service, request: IncomingMessage): Promise<Reply> {
  const submission = await readSubmission(request);
  if (
    service.account.scenario === 'connection-lost' &&
    service.everyOther.strikes(`connection-lost ${submission.idempotencyKey ?? ''}`)
  )
    return { ...jsonReply(201, {}), fault: 'no-answer' };
  const { creation, replayed } = chargeRun(service, submission);
  const reply = jsonReply(201, creation);
  const { scenario, speed } = service.account;
  if (LOSES_ANSWER.has(scenario) && !replayed) return { ...reply, fault: 'no-answer' };
  if (scenario === 'slow-answer') {
    const waitMs = (SLOW_ANSWER_MS * DEFAULT_SPEED) / speed;
    await delay(waitMs, undefined, { signal: service.closing });
  }
  return reply;
}
