import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { chargeRun } from './charge.ts';
import { jsonReply, type Reply } from './reply.ts';
import { DEFAULT_SPEED } from './scenarios.ts';
import type { Service } from './service.ts';
import { readSubmission } from './submission.ts';

/** How long the scenario `slow-answer` waits at the default clock speed. */
const SLOW_ANSWER_MS = 20_000;

/** POST /runs. @throws Refusal @throws ClientGone */
export async function submitRun(service: Service, request: IncomingMessage): Promise<Reply> {
  const submission = await readSubmission(request);
  const { creation, replayed } = chargeRun(service, submission);
  const reply = jsonReply(201, creation);
  const { scenario, speed } = service.account;
  if (scenario === 'answer-lost' && !replayed) return { ...reply, fault: 'no-answer' };
  if (scenario === 'slow-answer') {
    const waitMs = (SLOW_ANSWER_MS * DEFAULT_SPEED) / speed;
    await delay(waitMs, undefined, { signal: service.closing });
  }
  return reply;
}
