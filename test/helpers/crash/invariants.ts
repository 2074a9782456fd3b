import { setTimeout as delay } from 'node:timers/promises';
import type { Post } from './ledger.ts';
import { CANARIES } from './stage.ts';
import type { World } from './world.ts';

/** What one press of a button may lead to. */
const MAX_ATTEMPTS = 5;

/** Holds everything that happened in a cell against safety's invariants; the processes have ended. */
export async function verify(world: World): Promise<void> {
  world.claims.verify();
  verifyCharges(world);
  verifyRequests(world);
  verifySecrets(world);
  verifyBounds(world);
  // I9: the next start sweeps what the last one left.
  for (let starts = 0; starts < 3 && world.folder.strayFiles().length > 0; starts++) {
    await world.openAndClose();
    // A window that was closed may still be asking who has what.
    await delay(100);
  }
  for (const name of world.folder.strayFiles()) world.violate(`I9: ${name} is left`);
}

/** I1: at most one for each intent; and for the wish one more only for each one that the person gave up with a warning. */
function verifyCharges(world: World): void {
  const {
    service: { ledger },
    moreWishes,
  } = world;
  const counts = new Map<string, number>();
  for (const { idempotencyKey } of ledger.charges)
    counts.set(idempotencyKey, (counts.get(idempotencyKey) ?? 0) + 1);
  for (const count of counts.values())
    if (count > 1) world.violate(`I1: one intent was charged ${count} times`);
  if (ledger.charges.length > 1 + moreWishes)
    world.violate(
      `I1: one wish was charged ${ledger.charges.length} times, ${moreWishes} more were taken into account`,
    );
}

/** I2 and I6: what was sent, and to whom. */
function verifyRequests(world: World): void {
  const { service, stage, account, elsewhere } = world;
  const byKey = Map.groupBy(service.ledger.posts, ({ idempotencyKey }) => idempotencyKey);
  for (const [key, posts] of byKey) {
    if (!/^[0-9a-f-]{36}$/.test(key)) world.violate('I2: a request without an Idempotency-Key');
    const whole = posts.filter(({ digest }) => digest !== 'incomplete');
    if (new Set(whole.map(({ digest }) => digest)).size > 1) world.violate('I2: bodies of one intent differ');
    if (new Set(posts.map(({ contentType }) => contentType)).size > 1) world.violate('I2: boundaries differ');
    if (new Set(posts.map(({ contentLength }) => contentLength)).size > 1)
      world.violate('I2: lengths differ');
    for (const { datasetSha256, seq } of whole)
      if (datasetSha256 !== stage.dataset.sha256)
        world.violate(
          `I2: request ${seq} released its closing boundary after other bytes than those consented to`,
        );
    verifyApiKeys(world, posts);
  }
  const known = [account.apiKey, ...world.formerApiKeys].map((apiKey) => `Bearer ${apiKey}`);
  for (const { authorization, seq } of [...service.ledger.posts, ...service.ledger.reads])
    if (!known.includes(authorization)) world.violate(`I6: request ${seq} has another authorization`);
  const { posts, reads } = world.otherService.ledger;
  if (posts.length > 0) world.violate('I6: it was sent to another account');
  for (const { authorization } of reads)
    if (authorization !== `Bearer ${CANARIES.otherApiKey}`)
      world.violate('I6: an API key went to another account');
  for (const { headers } of elsewhere)
    if (headers.authorization !== undefined || headers['content-length'] !== undefined)
      world.violate('I6: an API key or a body went to another origin');
}

/** What may have been charged with one API key is never sent with another: it may be another account. */
function verifyApiKeys(world: World, posts: readonly Post[]): void {
  let mayBeCharged: string | undefined;
  for (const { authorization, digest, seq } of posts) {
    if (mayBeCharged !== undefined && mayBeCharged !== authorization)
      world.violate(`I6: request ${seq} was sent again with another API key`);
    if (digest !== 'incomplete') mayBeCharged = authorization;
  }
}

/** I5: nothing that must stay secret in what the processes wrote, printed or told. */
function verifySecrets(world: World): void {
  const texts: [string, string][] = [
    ...world.folder.texts(),
    ...world.windows.map(({ number, output }): [string, string] => [
      `the output of window ${number}`,
      output,
    ]),
    ...world.claims.all.map((told): [string, string] => [
      `what was told as ${told.kind}`,
      `${told.error?.code ?? ''} ${told.error?.text ?? ''} ${JSON.stringify(told.run ?? '')}`,
    ]),
  ];
  for (const [where, text] of texts)
    for (const [name, canary] of Object.entries(CANARIES))
      if (text.includes(canary)) world.violate(`I5: ${name} in ${where}`);
  for (const { error } of world.claims.all)
    if (/canaryKey/.test(error?.serviceMessage ?? ''))
      world.violate('I5: the API key in what the service said');
}

/** Whether an answer was known when the next request was sent: who is killed at any time may not have written it down. */
function wasHeard({ spec }: World, asked: Post, next: Post): boolean {
  return asked.window === next.window || spec.killAfterMs === undefined;
}

/** I7: attempts are bounded, and none comes before the service asked for it. */
function verifyBounds(world: World): void {
  const { posts } = world.service.ledger;
  for (const same of Map.groupBy(posts, ({ window, ordinal }) => `attempt ${ordinal} of window ${window}`))
    if (same[1].length > 1) world.violate(`I7: ${same[0]} was sent twice`);
  for (const [index, post] of posts.entries()) {
    const earlier = posts
      .slice(0, index)
      .filter(({ idempotencyKey }) => idempotencyKey === post.idempotencyKey);
    for (const { notBeforeMs = 0, seq } of earlier.filter((asked) => wasHeard(world, asked, post)))
      if (post.atMs < notBeforeMs - 1)
        world.violate(
          `I7: request ${post.seq} came ${notBeforeMs - post.atMs} ms before the Retry-After of ${seq}`,
        );
  }
  for (const [call, count] of world.attemptsOfCalls)
    if (count > MAX_ATTEMPTS) world.violate(`I7: ${count} attempts after one ${call}`);
}
