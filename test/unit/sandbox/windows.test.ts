import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Bench, useBench, type Address } from '../../helpers/sandbox/stage.ts';

interface Window extends Address {
  accountId: string;
  close(): Promise<unknown>;
}

const started: ChildProcess[] = [];

/** Starts processes, and lets them open the directory at the same moment. */
async function openWindows(count: number, directory: string): Promise<Window[]> {
  const script = fileURLToPath(new URL('../../helpers/sandbox/window.ts', import.meta.url));
  const children = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    started.push(child);
    return { child, lines: createInterface(child.stdout), exit: once(child, 'exit') };
  });
  await Promise.all(children.map(({ lines }) => once(lines, 'line')));
  const opened = children.map(async ({ child, lines, exit }) => {
    child.stdin.write('start\n');
    const [line] = (await once(lines, 'line')) as [string];
    const close = () => {
      child.stdin.end();
      return exit;
    };
    return { ...(JSON.parse(line) as Window), close };
  });
  return Promise.all(opened);
}

describe('sandbox windows', () => {
  const bench = useBench();
  // None is left behind by a test that failed.
  afterEach(() => started.splice(0).forEach((child) => child.kill()));
  const openTwo = () => openWindows(2, bench().directory);
  const closeAll = (windows: Window[]) => Promise.all(windows.map((window) => window.close()));

  it('charge once when they race on one Idempotency-Key', async () => {
    const windows = await openTwo();
    for (let round = 0; round < 5; round++) {
      const before = (await bench().get('/balance')).body.balance_cents;
      const key = randomUUID();
      const answers = await Promise.all(
        [...windows, ...windows].map((window) => bench().submit({}, key, window)),
      );
      for (const { status, body } of answers) {
        assert.equal(status, 201);
        assert.deepEqual(body, answers[0]?.body);
        assert.equal(body.balance_after_cents, before - body.price_cents);
      }
      assert.equal((await bench().get('/balance')).body.balance_cents, answers[0]?.body.balance_after_cents);
    }
    assert.equal((await bench().get('/runs')).body.data.length, 5);
    await closeAll(windows);
  });

  it('never spend more than there is when they race', async () => {
    const windows = await openTwo();
    bench().leaveBalance(5 * 101);
    const submissions = Array.from({ length: 20 }, (_, i) =>
      bench().submit({}, randomUUID(), windows[i % 2]),
    );
    const statuses = (await Promise.all(submissions)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 5);
    assert.equal(statuses.filter((status) => status === 402).length, 15);
    assert.equal((await bench().get('/balance')).body.balance_cents, 0);
    await closeAll(windows);
  });

  it('replace a broken database once when they find it together', async () => {
    const fresh = new Bench();
    writeFileSync(path.join(fresh.directory, 'sandbox.sqlite'), 'broken '.repeat(1000));
    const windows = await openWindows(3, fresh.directory);
    assert.equal(new Set(windows.map((window) => window.accountId)).size, 1);
    await closeAll(windows);
    await fresh.close();
  });
});
