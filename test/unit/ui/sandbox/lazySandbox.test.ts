import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LazySandbox } from '../../../../src/ui/sandbox/lazySandbox.ts';
import { startSandbox, type Sandbox } from '../../../../src/sandbox/sandbox.ts';

describe('LazySandbox', () => {
  let storage: string;
  let lines: string[];
  let lazy: LazySandbox;

  beforeEach(async () => {
    storage = await mkdtemp(path.join(tmpdir(), 'lazy-sandbox-'));
    lines = [];
    lazy = sandboxOf();
  });

  afterEach(async () => {
    await lazy.dispose();
    await rm(storage, { recursive: true });
  });

  function sandboxOf(load?: ConstructorParameters<typeof LazySandbox>[2]): LazySandbox {
    const log = {
      info: (line: string) => void lines.push(line),
      error: (what: string, error: unknown) => void lines.push(`${what}: ${String(error)}`),
    };
    return new LazySandbox(storage, log, load);
  }

  const answers = (baseUrl: string) =>
    fetch(`${baseUrl}/api/v1/balance`).then(
      () => true,
      () => false,
    );

  it('starts once, and stops when it is disposed', async () => {
    const [first, second] = await Promise.all([lazy.start(), lazy.start()]);
    assert.deepEqual(first, second);
    assert.equal(await answers(first.baseUrl), true);
    await lazy.dispose();
    assert.equal(await answers(first.baseUrl), false);
    assert.deepEqual(lines, []);
  });

  it('stops one that has started only after it was disposed', async () => {
    const started: Sandbox[] = [];
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    lazy = sandboxOf(() =>
      Promise.resolve({
        startSandbox: async (options) => {
          await gate;
          const sandbox = await startSandbox(options);
          started.push(sandbox);
          return sandbox;
        },
      }),
    );
    const starting = assert.rejects(lazy.start(), { code: 'cancelled' });
    const disposing = lazy.dispose();
    go();
    await Promise.all([starting, disposing]);
    assert.equal(await answers(started[0]?.baseUrl ?? ''), false);
    assert.equal(started.length, 1);
  });

  it('starts none after it was disposed', async () => {
    await lazy.dispose();
    await assert.rejects(lazy.start(), { code: 'cancelled' });
    await assert.rejects(lazy.control(), { code: 'cancelled' });
  });

  it('is disposed also where it cannot be closed', async () => {
    lazy = sandboxOf(() =>
      Promise.resolve({
        startSandbox: async (options) => {
          const sandbox = await startSandbox(options);
          return { ...sandbox, close: () => sandbox.close().then(() => Promise.reject(new Error('no'))) };
        },
      }),
    );
    await lazy.start();
    await lazy.dispose();
  });

  it('says that it could not start, has the reason in the log, and tries again', async () => {
    await writeFile(path.join(storage, 'sandbox'), 'a file in the way');
    await assert.rejects(Promise.all([lazy.start(), lazy.control()]), { code: 'sandbox-not-started' });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^sandbox-not-started: .*EEXIST/);
    await rm(path.join(storage, 'sandbox'));
    await lazy.start();
  });

  it('names itself once in the log', async () => {
    await lazy.start();
    await lazy.dispose();
    await writeFile(path.join(storage, 'sandbox', 'sandbox.sqlite'), 'no database');
    lazy = sandboxOf();
    await lazy.start();
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^sandbox: the database /);
  });
});
