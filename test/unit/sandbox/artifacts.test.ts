import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DAY, MINUTE, useBench } from './support.ts';

describe('sandbox artifacts', () => {
  const bench = useBench();
  const ask = (runId: string) => bench().call('POST', `/runs/${runId}/artifacts/download`);

  it('answers 404 for an unknown run, before completion and after 7 days', async () => {
    const { body } = await bench().submit();
    const runId = body.run_id;
    for (const [after, status] of [
      [0, 404],
      [MINUTE, 200],
      [7 * DAY, 404],
    ] as const) {
      bench().time += after;
      const answer = await ask(runId);
      assert.equal(answer.status, status);
      if (status === 404) assert.equal(answer.body.error.code, 'not_found');
    }
    assert.equal((await ask(randomUUID())).status, 404);
  });

  it('offers one artifact: the model, for 1800 seconds', async () => {
    const runId = await bench().completedRun();
    const { body } = await ask(runId);
    const artifact = body.artifacts[0]!;
    assert.deepEqual(body, {
      artifacts: [
        {
          artifact_type: 'model',
          url: artifact.url,
          expires_in: 1800,
          filename: `adapter-${runId.slice(0, 8)}.zip`,
        },
      ],
    });
    assert.ok(artifact.url.startsWith(`${bench().sandbox.baseUrl}/artifacts/`));
  });

  it('serves the archive without an API key, the same each time', async () => {
    const runId = await bench().completedRun();
    const url = await bench().signedUrl(runId);
    const first = await fetch(url);
    const bytes = Buffer.from(await first.arrayBuffer());
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('content-type'), 'application/zip');
    assert.equal(first.headers.get('content-length'), String(bytes.length));
    assert.equal(first.headers.get('accept-ranges'), 'bytes');
    assert.match(first.headers.get('etag') ?? '', /^"\w{64}"$/);
    assert.equal(
      first.headers.get('content-disposition'),
      `attachment; filename="adapter-${runId.slice(0, 8)}.zip"`,
    );
    assert.equal(bytes.subarray(0, 4).toString(), 'PK\u0003\u0004');

    bench().time += MINUTE;
    const second = await fetch(await bench().signedUrl(runId));
    assert.equal(second.headers.get('etag'), first.headers.get('etag'));
    assert.ok(bytes.equals(Buffer.from(await second.arrayBuffer())));
  });

  it('answers HEAD as GET, without the body and whatever the Range', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const whole = await fetch(url);
    await whole.arrayBuffer();
    const head = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
    for (const name of ['content-length', 'etag', 'content-type']) {
      assert.equal(head.headers.get(name), whole.headers.get(name));
    }
  });

  it('serves a range, so that a download can be resumed', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const whole = await fetch(url);
    const bytes = Buffer.from(await whole.arrayBuffer());
    const etag = whole.headers.get('etag') ?? '';
    const range = { range: 'bytes=1000-' };
    for (const headers of [range, { ...range, 'if-range': etag }] as Record<string, string>[]) {
      const part = await fetch(url, { headers });
      assert.equal(part.status, 206);
      assert.equal(part.headers.get('content-range'), `bytes 1000-${bytes.length - 1}/${bytes.length}`);
      assert.equal(part.headers.get('content-length'), String(bytes.length - 1000));
      assert.equal(part.headers.get('etag'), etag);
      assert.ok(bytes.subarray(1000).equals(Buffer.from(await part.arrayBuffer())));
    }
  });

  it('serves the whole when the ETag of If-Range is another, weak or a date', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? '';
    for (const ifRange of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
      const answer = await fetch(url, { headers: { range: 'bytes=1000-', 'if-range': ifRange } });
      await answer.arrayBuffer();
      assert.equal(answer.status, 200);
    }
  });

  it('answers 416 to a range behind the end', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const bytes = Number((await fetch(url, { method: 'HEAD' })).headers.get('content-length'));
    const answer = await fetch(url, { headers: { range: `bytes=${bytes}-` } });
    assert.equal(answer.status, 416);
    assert.equal(answer.headers.get('content-range'), `bytes */${bytes}`);
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'validation_failed');
  });

  it('ends after 1800 seconds with 403, and not before', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    bench().time += 30 * MINUTE - 1;
    assert.equal((await fetch(url)).status, 200);
    bench().time += 1;
    const late = await fetch(url);
    assert.equal(late.status, 403);
    assert.ok(((await late.json()) as { error: { message: string } }).error.message);
  });

  it('honours a signature for nothing but what it signed', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    const other = (await bench().submit()).body.run_id;
    bench().time += MINUTE;
    const forged = [
      url.replace(/expires=\d+/, 'expires=9999999999'),
      url.replace(/artifacts\/[^/]+/, `artifacts/${other}`),
      url.replace('/adapter-', '/other-'),
      url.replace(/signature=\w/, (text) => `signature=${text.endsWith('0') ? '1' : '0'}`),
      url.replace(/&signature=.*/, ''),
      url.replace(/\?.*/, ''),
    ];
    for (const address of forged) {
      assert.notEqual(address, url);
      assert.equal((await fetch(address)).status, 403, address);
    }
    assert.equal((await fetch(url, { method: 'POST' })).status, 405);
    assert.equal((await fetch(url)).status, 200);
  });

  it('is gone with its run', async () => {
    const url = await bench().signedUrl(await bench().completedRun());
    bench().sandbox.control.reset();
    assert.equal((await fetch(url)).status, 404);
  });
});
