import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DAY, MINUTE, useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox artifacts', () => {
  const bench = useBench();
  const ask = (runId: string) => bench().call('POST', `/runs/${runId}/artifacts/download`);
  const urlOfRun = async () => bench().signedUrl(await bench().completedRun());
  const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

  it('are offered for 7 days after completion', async () => {
    const { body } = await bench().submit();
    for (const [after, status] of [
      [0, 404],
      [MINUTE, 200],
      [7 * DAY, 404],
    ] as const) {
      bench().time += after;
      const answer = await ask(body.run_id);
      assert.equal(answer.status, status);
      if (status === 404) assert.equal(answer.body.error.code, 'not_found');
    }
    assert.equal((await ask(randomUUID())).status, 404);
  });

  it('are one model, with a URL that returns 403 after 1800 seconds', async () => {
    const runId = await bench().completedRun();
    const { body } = await ask(runId);
    const { url } = body.artifacts[0]!;
    const filename = `adapter-${runId.slice(0, 8)}.zip`;
    assert.deepEqual(body, { artifacts: [{ artifact_type: 'model', url, expires_in: 1800, filename }] });
    assert.ok(url.startsWith(`${bench().sandbox.baseUrl}/artifacts/`));
    bench().time += 30 * MINUTE - 1;
    assert.equal((await fetch(url)).status, 200);
    bench().time += 1;
    assert.equal((await fetch(url)).status, 403);
  });

  it('need no API key, and have the same bytes each time', async () => {
    const runId = await bench().completedRun();
    const url = await bench().signedUrl(runId);
    const first = await fetch(url);
    const bytes = await bytesOf(first);
    const names = ['content-type', 'content-length', 'accept-ranges', 'content-disposition'];
    assert.match(first.headers.get('etag') ?? '', /^"\w{64}"$/);
    assert.deepEqual(
      names.map((name) => first.headers.get(name)),
      [
        'application/zip',
        String(bytes.length),
        'bytes',
        `attachment; filename="adapter-${runId.slice(0, 8)}.zip"`,
      ],
    );
    assert.equal(bytes.subarray(0, 4).toString(), 'PK\u0003\u0004');
    bench().time += MINUTE;
    assert.ok(bytes.equals(await bytesOf(await fetch(await bench().signedUrl(runId)))));
  });

  it('are sent from a byte on, but completely if If-Range is not their strong ETag', async () => {
    const url = await urlOfRun();
    const complete = await fetch(url);
    const bytes = await bytesOf(complete);
    const etag = complete.headers.get('etag') ?? '';
    const get = (range: string, ifRange?: string) =>
      fetch(url, { headers: { range, ...(ifRange !== undefined && { 'if-range': ifRange }) } });
    for (const ifRange of [undefined, etag]) {
      const part = await get('bytes=1000-', ifRange);
      assert.deepEqual(
        [part.status, part.headers.get('content-range'), part.headers.get('etag')],
        [206, `bytes 1000-${bytes.length - 1}/${bytes.length}`, etag],
      );
      assert.ok(bytes.subarray(1000).equals(await bytesOf(part)));
    }
    for (const ifRange of ['"other"', `W/${etag}`, new Date().toUTCString()])
      assert.equal((await get('bytes=1000-', ifRange)).status, 200);
    assert.equal((await get('bytes=0-9')).status, 200);
    const behind = await get(`bytes=${bytes.length}-`);
    assert.deepEqual([behind.status, behind.headers.get('content-range')], [416, `bytes */${bytes.length}`]);
  });

  it('are sent only for signed URLs, and not after their run was deleted', async () => {
    const url = await urlOfRun();
    const other = (await bench().submit()).body.run_id;
    bench().time += MINUTE;
    for (const forged of [
      url.replace(/expires=\d+/, 'expires=9999999999'),
      url.replace(/artifacts\/[^/]+/, `artifacts/${other}`),
      url.replace('/adapter-', '/other-'),
      url.replace(/signature=\w/, (text) => `signature=${text.endsWith('0') ? '1' : '0'}`),
      url.replace(/&signature=.*/, ''),
      url.replace(/\?.*/, ''),
    ]) {
      assert.notEqual(forged, url);
      assert.equal((await fetch(forged)).status, 403, forged);
    }
    assert.equal((await fetch(url)).status, 200);
    bench().sandbox.control.reset();
    assert.equal((await fetch(url)).status, 404);
  });
});
