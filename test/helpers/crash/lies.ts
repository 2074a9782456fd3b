import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HttpResponse, HttpRequest } from '../../../src/core/api/exchange.ts';
import type { Link } from '../../../src/core/base/exclusiveName.ts';
import type { Submission } from '../../../src/core/submission/submission.ts';
import type { Cell } from './cells.ts';

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** A storage or network that lies, a cell in which the lie does harm, and the violation that must be reported. */
interface Lie {
  /** Gives a complete temporary file the name of a version. */
  link?: (link: Link, from: string, to: string) => Promise<void>;
  /** Applies only to attempts; `ordinal` is the attempt's number in the process, from 1. */
  send?: (send: Send, request: HttpRequest, ordinal: number) => Promise<HttpResponse>;
  cell: Partial<Cell>;
  expected: RegExp;
}

const LOST = { faults: ['reset after body, processed'], crashes: [{ point: 'sent' }] } as const;

export const LIES = {
  'a version is acknowledged before it is there': {
    link: async (link, from, to) => {
      await rename(from, `${from}.late`);
      setTimeout(() => void link(`${from}.late`, to).catch(() => undefined), 2000);
    },
    cell: LOST,
    // A version that isn't on the disk when the next one follows isn't sent.
    expected: /^end: the user never got a run|^I9: /,
  },
  'the mark before the closing boundary is dropped': {
    link: async (link, from, to) => {
      const record = JSON.parse(await readFile(from, 'utf8')) as Submission;
      const [{ closed, ...attempt } = { started: record.created }] = record.attempts.slice(-1);
      const isMark = record.stage === 'sent' && closed !== undefined && attempt.ended === undefined;
      // The window would notice a missing version right before the last bytes.
      const unmarked = { ...record, stage: 'sending', attempts: [...record.attempts.slice(0, -1), attempt] };
      if (isMark) await writeFile(from, JSON.stringify(unmarked, null, 2));
      await link(from, to);
    },
    cell: LOST,
    expected: /^journal: request \d+ released its closing boundary before that was durable/,
  },
  'a name is given twice': {
    link: async (_link, from, to) => {
      await rename(from, to);
      // The versions above it would show what happened.
      const [, record = '', n = ''] = /([^/]+)\.(\d+)\.json$/.exec(to) ?? [];
      for (let higher = Number(n) + 1; higher < 20; higher++)
        await rm(path.join(path.dirname(to), `${record}.${higher}.json`), { force: true });
    },
    cell: {
      second: 'lock lost',
      loss: 'silent',
      taker: 'discards',
      crashes: [{ point: 'closed-mark in a temporary file' }],
    },
    expected: /^I4: .* not charged, but/,
  },
  'a secret is written beside the journal': {
    link: async (link, from, to) => {
      await link(from, to);
      await writeFile(path.join(path.dirname(to), 'debug.log'), 'service_canaryKey7Qx2');
    },
    cell: {},
    expected: /^I5: apiKey in debug\.log/,
  },
  'a file is left behind': {
    link: async (link, from, to) => {
      await link(from, to);
      await writeFile(path.join(path.dirname(to), 'copy.json.bak'), '');
    },
    cell: {},
    expected: /^I9: .*copy\.json\.bak is left/,
  },
  'a request is repeated with another Idempotency-Key': {
    send: (send, request, ordinal) =>
      send(ordinal === 1 ? request : withHeader(request, 'idempotency-key', randomUUID())),
    cell: { faults: ['reset after body, not processed'] },
    expected: /^I3: .* new Idempotency-Key/,
  },
  'a request is sent twice': {
    send: async (send, request) => {
      const body: Uint8Array[] = [];
      for await (const chunk of request.body ?? []) body.push(Uint8Array.from(chunk));
      const again = () => ({ ...request, body: iterate(body) });
      (await send(again())).discard();
      return send(again());
    },
    cell: {},
    expected: /^I7: attempt 1 of window 1 was sent twice/,
  },
  'an answer is lost after the charge, and a refusal comes in its place': {
    send: async (send, request) => {
      (await send(request)).discard();
      const text = JSON.stringify({ error: { code: 'insufficient_balance', message: '' } });
      return {
        httpStatus: 402,
        header: (name) => (name === 'content-type' ? 'application/json' : undefined),
        body: iterate([Buffer.from(text)]),
        discard: () => undefined,
      };
    },
    cell: {},
    expected: /^I4: .* not charged, but/,
  },
  'a byte of the dataset is changed': {
    send: (send, request) => send({ ...request, body: changed(request.body ?? iterate([])) }),
    cell: {},
    expected: /^I2: .* other bytes/,
  },
  'Retry-After is taken away': {
    send: async (send, request) => {
      const answer = await send(request);
      return { ...answer, header: (name) => (name === 'retry-after' ? undefined : answer.header(name)) };
    },
    cell: { faults: ['429 seconds', '503', '429 date'] },
    expected: /^I7: .* before the Retry-After/,
  },
  'another API key is sent': {
    send: (send, request) => send(withHeader(request, 'authorization', 'Bearer service_another')),
    cell: {},
    expected: /^I6: request \d+ has another authorization/,
  },
} as const satisfies Record<string, Lie>;

export type LieName = keyof typeof LIES;

/** @param name undefined for no lie */
export function lieOf(name: LieName | undefined): Partial<Lie> {
  return name === undefined ? {} : LIES[name];
}

function withHeader(request: HttpRequest, name: string, value: string): HttpRequest {
  const others = Object.entries(request.headers).filter(([other]) => other.toLowerCase() !== name);
  return { ...request, headers: { ...Object.fromEntries(others), [name]: value } };
}

async function* iterate(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

async function* changed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  for await (const chunk of body) {
    const bytes = Uint8Array.from(chunk);
    // Change the dataset, not the fields before it.
    if (sentBytes > 0 && sentBytes < 60_000) bytes[1000] = 'x'.charCodeAt(0);
    sentBytes += chunk.byteLength;
    yield bytes;
  }
}
