import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LazySandbox } from '../../../../src/ui/sandbox/lazySandbox.ts';
import { useFolder } from '../../../helpers/folder.ts';

describe('LazySandbox', () => {
  const storage = useFolder();
  let lines: string[];
  let lazy: LazySandbox;

  beforeEach(() => {
    lines = [];
    lazy = sandboxOf();
  });

  afterEach(async () => {
    await lazy.dispose();
  });

  function sandboxOf(): LazySandbox {
    const log = {
      info: (line: string) => void lines.push(line),
      error: (what: string, error: unknown) => void lines.push(`${what}: ${String(error)}`),
    };
    return new LazySandbox(storage(), log);
  }

  const answers = (baseUrl: string) =>
    fetch(`${baseUrl}/api/v1/balance`).then(
      () => true,
      () => false,
    );

  it('starts once, and stops when disposed', async () => {
    const [first, second] = await Promise.all([lazy.start(), lazy.start()]);
    assert.equal(first, second);
    assert.equal(await answers(first.baseUrl), true);
    await lazy.dispose();
    assert.equal(await answers(first.baseUrl), false);
    assert.deepEqual(lines, []);
  });

  it('knows the fault that is on, once it is started and until it is disposed', async () => {
    assert.equal(lazy.fault, undefined);
    const { control } = await lazy.start();
    assert.equal(lazy.fault, undefined);
    control.setScenario('insufficient-balance');
    assert.equal(lazy.fault, 'insufficient-balance');
    await lazy.dispose();
    assert.equal(lazy.fault, undefined);
  });

  it('rejects and logs the reason if it cannot start, and retries at the next use', async () => {
    await writeFile(path.join(storage(), 'sandbox'), 'a file in the way');
    await assert.rejects(Promise.all([lazy.start(), lazy.start()]), { code: 'sandbox-not-started' });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^sandbox-not-started: .*EEXIST/);
    await rm(path.join(storage(), 'sandbox'));
    await lazy.start();
  });
});
