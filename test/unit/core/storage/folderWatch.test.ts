import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FolderWatch } from '../../../../src/core/storage/folderWatch.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { until } from '../../../helpers/runs/support.ts';

describe('FolderWatch', () => {
  const folder = useFolder();
  let watched: string;
  let calls: number;
  let watch: FolderWatch | undefined;

  beforeEach(() => {
    watched = path.join(folder(), 'watched');
    calls = 0;
  });
  afterEach(() => {
    watch?.dispose();
  });

  const follow = () =>
    (watch = new FolderWatch(watched, '.json', () => {
      calls++;
      return Promise.reject(new Error('ignored'));
    }));
  const put = (name: string, at = watched) => writeFileSync(path.join(at, name), '');
  const whileAnyIsTold = () => delay(80);

  it('reports simultaneous changes once, and later ones again', async () => {
    mkdirSync(watched);
    follow();
    for (let each = 0; each < 20; each++) put(`${each}.json`);
    await until(() => calls === 1);
    await whileAnyIsTold();
    assert.equal(calls, 1);
    put('next.json');
    await until(() => calls === 2);
  });

  it('ignores other names', async () => {
    mkdirSync(watched);
    follow();
    put('a.json.tmp');
    await whileAnyIsTold();
    assert.equal(calls, 0);
  });

  it('watches only the folder that exists when it is renewed', async () => {
    const away = path.join(folder(), 'away');
    follow();
    mkdirSync(watched);
    watch?.renew();
    watch?.renew();
    put('a.json');
    await until(() => calls === 1);
    renameSync(watched, away);
    watch?.renew();
    mkdirSync(watched);
    watch?.renew();
    await whileAnyIsTold();
    const before = calls;
    put('b.json', away);
    await whileAnyIsTold();
    assert.equal(calls, before);
    put('c.json');
    await until(() => calls === before + 1);
  });

  it('reports nothing after it is disposed', async () => {
    mkdirSync(watched);
    follow();
    put('a.json');
    await delay(10);
    watch?.dispose();
    watch?.renew();
    put('b.json');
    await whileAnyIsTold();
    assert.equal(calls, 0);
    const late = new FolderWatch(path.join(folder(), 'later'), '.json', () => assert.fail('disposed'));
    late.dispose();
    mkdirSync(path.join(folder(), 'later'));
    late.renew();
    put('a.json', path.join(folder(), 'later'));
    await whileAnyIsTold();
  });
});
