import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import type { Artifact } from '../../../src/api/types.ts';
import { CancelledError } from '../../../src/base/errors.ts';
import { DiskError, Downloader } from '../../../src/runs/downloader.ts';
import type { Session } from '../../../src/runs/session.ts';
import { Submitter } from '../../../src/runs/submitter.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { Bench, silent, until } from './support.ts';

describe('Downloader', () => {
  let bench: Bench;
  let downloader: Downloader;
  let target: string;

  beforeEach(async () => {
    bench = await Bench.start();
    downloader = new Downloader(() => bench.transport);
    await mkdir(path.join(bench.folder, 'out'));
    target = path.join(bench.folder, 'out', 'adapter.zip');
  });
  afterEach(() => bench.end());

  const left = () => readdir(path.dirname(target));
  const at = (url: string): Artifact => ({ artifact_type: 'model', url });
  const nobody = () => bench.session(() => Promise.resolve(undefined));

  describe('with the sandbox', () => {
    let sandbox: Sandbox;
    let session: Session;
    let runId: string;

    beforeEach(async () => {
      let now = Date.now();
      sandbox = await bench.sandbox(() => now);
      session = bench.session(sandbox);
      const outcome = await new Submitter(bench.journal).submit(session, await bench.draft(), silent());
      assert.ok(outcome.kind === 'charged');
      runId = outcome.run.run_id;
      now += 3_600_000;
    });

    it('brings a whole archive home and tells its progress', async () => {
      const [artifact] = await downloader.artifacts(session, runId, silent());
      assert.ok(artifact);
      const told: [number, number | undefined][] = [];
      await downloader.download(session, artifact, target, {
        signal: silent(),
        onProgress: (received, total) => told.push([received, total]),
      });
      const archive = await readFile(target);
      assert.equal(archive.subarray(0, 4).toString('latin1'), 'PK\x03\x04');
      assert.deepEqual(told.at(-1), [archive.byteLength, archive.byteLength]);
      assert.deepEqual(await left(), ['adapter.zip']);
    });

    it('leaves nothing of a cut download; another try works', async () => {
      sandbox.control.setScenario('cut-download');
      const [artifact] = await downloader.artifacts(session, runId, silent());
      assert.ok(artifact);
      await assert.rejects(downloader.download(session, artifact, target, { signal: silent() }), {
        code: 'network',
      });
      assert.deepEqual(await left(), []);
      await downloader.download(session, artifact, target, { signal: silent() });
      assert.deepEqual(await left(), ['adapter.zip']);
    });

    it('leaves nothing of an expired address', async () => {
      sandbox.control.setScenario('expired-url');
      const [artifact] = await downloader.artifacts(session, runId, silent());
      assert.ok(artifact);
      await assert.rejects(downloader.download(session, artifact, target, { signal: silent() }), {
        code: 'signed-url-refused',
        httpStatus: 403,
      });
      assert.deepEqual(await left(), []);
    });

    it('tells of a run that is not there', async () => {
      await assert.rejects(downloader.artifacts(session, 'nothing', silent()), { code: 'not_found' });
    });
  });

  it('never writes over what is there: a file, a folder, a link to nowhere', async () => {
    const server = await bench.serve((_request, response) => void response.end('new'));
    const inTheWay: [string, () => Promise<unknown>][] = [
      ['file', () => writeFile(path.join(target, '..', 'file'), 'mine')],
      ['folder', () => mkdir(path.join(target, '..', 'folder'))],
      ['link', () => symlink('nowhere', path.join(target, '..', 'link'))],
    ];
    for (const [name, make] of inTheWay) {
      await make();
      const taken = path.join(path.dirname(target), name);
      await assert.rejects(downloader.download(nobody(), at(server.url), taken, { signal: silent() }), {
        code: 'file-exists',
      });
    }
    assert.equal(await readFile(path.join(path.dirname(target), 'file'), 'utf8'), 'mine');
    assert.deepEqual(await left(), ['file', 'folder', 'link']);
  });

  it('never writes over a file that appears during the download', async () => {
    const server = await bench.serve((_request, response) => {
      response.write('one');
      void writeFile(target, 'mine').then(() => response.end('two'));
    });
    await assert.rejects(downloader.download(nobody(), at(server.url), target, { signal: silent() }), {
      code: 'file-exists',
    });
    assert.equal(await readFile(target, 'utf8'), 'mine');
    assert.deepEqual(await left(), ['adapter.zip']);
  });

  it('lets one of two downloads to one name have it', async () => {
    const server = await bench.serve((request, response) => void response.end(request.url));
    const ends = await Promise.allSettled(
      ['/a', '/b'].map((name) =>
        downloader.download(nobody(), at(server.url + name), target, { signal: silent() }),
      ),
    );
    assert.deepEqual(ends.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    assert.deepEqual(await left(), ['adapter.zip']);
  });

  it('shows nothing under the final name before the last byte', async () => {
    let finish: (() => void) | undefined;
    const server = await bench.serve((_request, response) => {
      response.write('half');
      finish = () => void response.end('whole');
    });
    const session = nobody();
    let received = 0;
    const done = downloader.download(session, at(server.url), target, {
      signal: silent(),
      onProgress: (bytes) => (received = bytes),
    });
    await until(() => received === 4);
    assert.equal(downloader.isBusy(session.account.id), true);
    assert.equal((await left()).includes('adapter.zip'), false);
    finish?.();
    await done;
    assert.equal(await readFile(target, 'utf8'), 'halfwhole');
    assert.equal(downloader.isBusy(session.account.id), false);
  });

  for (const [name, cut] of [
    ['with a length', { 'content-length': 1000 }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ] as const) {
    it(`leaves nothing of an answer ${name} that is cut`, async () => {
      const server = await bench.serve((request, response) => {
        response.writeHead(200, cut).write('half', () => setTimeout(() => request.socket.destroy(), 5));
      });
      const session = nobody();
      await assert.rejects(downloader.download(session, at(server.url), target, { signal: silent() }), {
        code: 'network',
      });
      assert.deepEqual([await left(), downloader.isBusy(session.account.id)], [[], false]);
    });
  }

  it('leaves nothing when it is cancelled, before, in the middle and at the end', async () => {
    const server = await bench.serve((request, response) => {
      response.write('half');
      if (request.url === '/end') response.end('whole');
    });
    for (const where of ['before', 'middle', 'end']) {
      const stop = new AbortController();
      if (where === 'before') stop.abort();
      const done = downloader.download(nobody(), at(`${server.url}/${where}`), target, {
        signal: stop.signal,
        onProgress: (received) => {
          if (where === 'middle' || received > 4) stop.abort();
        },
      });
      await assert.rejects(done, CancelledError, where);
      assert.deepEqual(await left(), [], where);
    }
  });

  it('tells the storage nothing of who asks, also behind redirects', async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const server = await bench.serve((request, response) => {
      seen.push(request.headers);
      if (request.url === '/start?sig=1') response.writeHead(302, { location: '/moved?sig=2' }).end();
      else response.end('bytes');
    });
    const session = bench.session({ baseUrl: server.url, apiKey: 'service_CaNaRy', keyId: 'key-1' });
    await downloader.download(session, at(`${server.url}/start?sig=1`), target, { signal: silent() });
    assert.equal(await readFile(target, 'utf8'), 'bytes');
    assert.equal(seen.length, 2);
    assert.doesNotMatch(JSON.stringify(seen), /CaNaRy|authorization|cookie|user-agent|referer/i);
  });

  it('asks no storage when the folder takes no file', async () => {
    let asked = 0;
    const server = await bench.serve((_request, response) => {
      asked += 1;
      response.end();
    });
    await writeFile(path.join(bench.folder, 'plain'), 'a file, no folder');
    for (const folder of ['missing', 'plain']) {
      const into = path.join(bench.folder, folder, 'adapter.zip');
      await assert.rejects(
        downloader.download(nobody(), at(server.url), into, { signal: silent() }),
        DiskError,
      );
    }
    assert.equal(asked, 0);
  });

  it('names what the disk said', () => {
    const codeOf = (code: string) => new DiskError(Object.assign(new Error('/secret/path'), { code })).code;
    assert.deepEqual(['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'EIO'].map(codeOf), [
      'disk-full',
      'disk-full',
      'no-permission',
      'no-permission',
      'no-permission',
      'disk',
    ]);
    assert.doesNotMatch(new DiskError(new Error('/secret/path')).message, /secret/);
  });

  it('counts downloads of one account apart', async () => {
    const held: http.ServerResponse[] = [];
    const server = await bench.serve((_request, response) => void held.push(response));
    const session = nobody();
    const [one, two] = ['1', '2'].map((name) =>
      downloader.download(session, at(server.url), `${target}${name}`, { signal: silent() }),
    );
    await until(() => held.length === 2);
    held[0]?.end('x');
    await Promise.race([one, two]);
    assert.equal(downloader.isBusy(session.account.id), true);
    held[1]?.end('x');
    await Promise.all([one, two]);
    assert.equal(downloader.isBusy(session.account.id), false);
  });
});
