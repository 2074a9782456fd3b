import assert from 'node:assert/strict';
import type http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { openSignedUrl } from '../../../../src/core/api/signedDownload.ts';
import { Transport } from '../../../../src/core/api/transport.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';
import { startConnectProxy } from '../../../helpers/connectProxy.ts';
import { startHttpServer, startHttpsServer, type TestServer } from '../../../helpers/httpServer.ts';

const SETTINGS = { strictSsl: true, systemCertificates: false, env: {} };

describe('signed download', () => {
  let server: TestServer;
  let transport: Transport;
  let seen: { url?: string; headers: http.IncomingHttpHeaders }[];
  let answer: (response: http.ServerResponse, request: http.IncomingMessage) => void;

  beforeEach(async () => {
    seen = [];
    transport = new Transport(SETTINGS);
    server = await startHttpServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      answer(response, request);
    });
  });

  afterEach(async () => {
    transport.dispose();
    await server.close();
  });

  const url = () => `${server.url}/a%2Fb.zip?sig=secret%2B&x=1`;

  async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  it('requests the URL unchanged, without a header that identifies the user', async () => {
    answer = (response) => response.writeHead(200, { etag: '"e"', 'content-length': 5 }).end('bytes');
    const { body, totalBytes, etag } = await openSignedUrl(transport, url(), server.url);
    assert.deepEqual([(await bytesOf(body)).toString(), totalBytes, etag], ['bytes', 5, '"e"']);
    assert.equal(seen[0]?.url, '/a%2Fb.zip?sig=secret%2B&x=1');
    const { host, connection, ...others } = seen[0].headers;
    assert.deepEqual(others, { 'accept-encoding': 'identity' });
    assert.ok(host && connection);
  });

  it('follows at most five redirects', async () => {
    answer = (response, request) => {
      const step = Number(/step=(\d+)/.exec(String(request.url))?.[1] ?? 0);
      if (step === 5) response.end('there');
      else
        response
          .writeHead([301, 302, 303, 307, 308][step] ?? 302, { location: `?step=${step + 1}` })
          .end('elsewhere');
    };
    const { body } = await openSignedUrl(transport, url(), server.url);
    assert.equal((await bytesOf(body)).toString(), 'there');
    assert.equal(seen.length, 6);
    answer = (response) => response.writeHead(302, { location: '/again' }).end();
    await assert.rejects(openSignedUrl(transport, url(), server.url), {
      code: 'unexpected-response',
      kind: 'redirect',
      httpStatus: 302,
    });
    assert.equal(seen.length, 12);
  });

  it('neither opens nor follows a URL without https', async () => {
    for (const location of [
      'http://storage.example/a',
      'ftp://storage.example/a',
      'file:///etc/passwd',
      'http://',
      undefined,
    ]) {
      answer = (response) => response.writeHead(302, location === undefined ? {} : { location }).end();
      await assert.rejects(openSignedUrl(transport, url(), server.url), { kind: 'redirect' });
    }
    seen = [];
    for (const bad of ['', 'a.zip', 'http://storage.example/a', 'file:///etc/passwd'])
      await assert.rejects(openSignedUrl(transport, bad, server.url), { code: 'unexpected-response' });
    assert.deepEqual(seen, []);
  });

  it('does not follow a redirect from another machine to this one', async () => {
    const proxy = await startConnectProxy();
    const storage = await startHttpsServer((_request, response) =>
      response.writeHead(302, { location: url() }).end(),
    );
    const proxied = new Transport({
      httpProxy: proxy.url,
      strictSsl: false,
      systemCertificates: false,
      env: {},
    });
    const link = `https://storage.test:${storage.port}/a`;
    await assert.rejects(openSignedUrl(proxied, link, 'https://service.test'), { kind: 'redirect' });
    assert.deepEqual(seen, []);
    proxied.dispose();
    await storage.close();
    await proxy.close();
  });

  describe('a link to this machine or its network', () => {
    const inside = [
      'http://127.0.0.1/a',
      'http://localhost/a',
      'https://127.8.9.1/a',
      'https://2130706433/a',
      'https://0.0.0.0/a',
      'https://[::1]/a',
      'https://[::]/a',
      'https://[::ffff:127.0.0.1]/a',
      'https://localhost./a',
      'https://a.localhost/a',
      'https://10.0.0.1/a',
      'https://172.31.255.1/a',
      'https://192.168.1.1/a',
      'https://169.254.169.254/latest/meta-data',
      'https://100.64.0.1/a',
      'https://[fd00::1]/a',
      'https://[fe80::1]/a',
      'https://[::ffff:192.168.1.1]/a',
      ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::8.8.8.8]'],
      ...['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2002:c0a8:101:1:2:3:4:5]', '[2002:6440:1::]'],
      ...['[::169.254.169.254]', '[::127.0.0.1]', '[::a00:1]', '[::192.168.0.1]', '[::2]'],
      ...['[::ffff:0:127.0.0.1]', '[::ffff:0:10.1.2.3]', '[0:0:0:0:0:0:7f00:1]', '[::ffff:a9fe:a9fe]'],
    ].map((link) => (link.startsWith('[') ? `https://${link}/a` : link));
    /** Returns a transport that redirects the first request to `location`, if given. */
    const transportTo = (location?: string) => {
      const asked: string[] = [];
      const send = ({ url: target }: { url: URL }) => {
        asked.push(target.href);
        const answer = {
          httpStatus: asked.length === 1 && location !== undefined ? 302 : 200,
          header: (name: string) => (name === 'location' ? location : undefined),
          discard: () => undefined,
        };
        return Promise.resolve(answer);
      };
      return { asked, transport: { send } as unknown as Transport };
    };

    it('is not opened from a remote service, directly or by a redirect', async () => {
      const [service, storage] = ['https://service.example', 'https://storage.example/a'];
      for (const link of inside) {
        const first = transportTo();
        await assert.rejects(openSignedUrl(first.transport, link, service), { kind: 'unsafe-link' }, link);
        const second = transportTo(link);
        await assert.rejects(openSignedUrl(second.transport, storage, service), { kind: 'redirect' }, link);
        assert.deepEqual([first.asked, second.asked], [[], [storage]]);
      }
    });

    it('is opened from a service that is as near or nearer; other links always are', async () => {
      for (const [service, link, isOpened] of [
        ['http://localhost:8080/x', 'http://127.0.0.1/a', true],
        ['http://127.0.0.1', 'https://192.168.1.1/a', true],
        ['https://10.0.0.1', 'https://192.168.1.1/a', true],
        ['https://10.0.0.1', 'http://127.0.0.1/a', false],
        ['https://service.example', 'https://172.32.0.1/a', true],
        ['https://service.example', 'https://[2001:db8::1]/a', true],
        ...['64:ff9b::808:808', '2002:808:808::1', '::808:808', '::ffff:808:808', '::ffff:0:808:808'].map(
          (host) => ['https://service.example', `https://[${host}]/a`, true] as const,
        ),
        ['https://[64:ff9b::a00:1]', 'https://192.168.1.1/a', true],
        ['https://service.example', 'https://10.example/a', true],
      ] as const) {
        const { asked, transport: storage } = transportTo();
        const opened = openSignedUrl(storage, link, service);
        if (isOpened) await opened;
        else await assert.rejects(opened, { kind: 'unsafe-link' });
        assert.deepEqual(asked, isOpened ? [link] : []);
      }
    });
  });

  it('reports a rejection without the URL', async () => {
    for (const status of [403, 404, 410, 500]) {
      answer = (response) => response.writeHead(status).end('<Error>');
      await assert.rejects(openSignedUrl(transport, url(), server.url), (error) => {
        assert.ok(error instanceof ExpectedError);
        assert.deepEqual([error.code, Reflect.get(error, 'httpStatus')], ['signed-url-refused', status]);
        assert.doesNotMatch(`${String(error.stack)} ${JSON.stringify(error)}`, /secret/);
        return true;
      });
    }
  });

  it('throws when the body stalls, but not while its reader is slow', async () => {
    transport = new Transport(SETTINGS, { timeouts: { stallMs: 600 } });
    answer = (response) => response.writeHead(200).write('half');
    const { body } = await openSignedUrl(transport, url(), server.url);
    await assert.rejects(
      (async () => {
        for await (const chunk of body) {
          assert.equal(Buffer.from(chunk).toString(), 'half');
          await delay(1_200); // twice the limit
          answer = () => undefined;
        }
      })(),
      { code: 'network', reason: 'stalled' },
    );
    answer = (response) => response.writeHead(200).end(Buffer.alloc(3_000_000));
    const slow = await openSignedUrl(transport, url(), server.url);
    let received = 0;
    for await (const chunk of slow.body) {
      if (received === 0) await delay(1_200);
      received += chunk.byteLength;
    }
    assert.equal(received, 3_000_000);
  });

  it('drops the connection of an unread or abandoned body', async () => {
    transport = new Transport(SETTINGS, { timeouts: { stallMs: 600 } });
    for (const read of [false, true]) {
      const closed = new Promise<void>((resolve) => {
        answer = (response) => {
          response.on('close', () => resolve());
          response.writeHead(200).write('half');
        };
      });
      const { body } = await openSignedUrl(transport, url(), server.url);
      if (read) for await (const chunk of body) if (chunk.byteLength > 0) break;
      await closed;
    }
  });

  describe('with bytes of an earlier download', () => {
    const kept = { startByte: 4, etag: '"e"', totalBytes: 10 };
    const rest = { etag: '"e"', 'content-range': 'bytes 4-9/10', 'content-length': 6 };
    const whole = (response: http.ServerResponse) =>
      response.writeHead(200, { etag: '"e"', 'content-length': 10 }).end('0123456789');

    it('requests the rest of exactly these bytes, over redirects', async () => {
      answer = (response, request) => {
        if (request.url?.endsWith('moved')) response.writeHead(206, rest).end('456789');
        else response.writeHead(302, { location: '/moved' }).end();
      };
      const { body, ...opened } = await openSignedUrl(transport, url(), server.url, { kept });
      assert.equal((await bytesOf(body)).toString(), '456789');
      assert.deepEqual(opened, { startByte: 4, totalBytes: 10, etag: '"e"', isEndKnown: true });
      for (const { headers } of seen)
        assert.deepEqual(
          [headers.range, headers['if-range'], Object.keys(headers).length],
          ['bytes=4-', '"e"', 5],
        );
    });

    it('starts over after any other response', async () => {
      for (const [name, headers] of Object.entries({
        'with another start': { ...rest, 'content-range': 'bytes 3-8/10' },
        'with another start alone': { ...rest, 'content-range': 'bytes 3-9/10' },
        'with another end alone': { ...rest, 'content-range': 'bytes 4-8/10' },
        'with another end': { ...rest, 'content-range': 'bytes 4-8/10', 'content-length': 5 },
        'with another total': { ...rest, 'content-range': 'bytes 4-10/11', 'content-length': 7 },
        'with no total': { ...rest, 'content-range': 'bytes 4-9/*' },
        'with no range': { etag: '"e"', 'content-length': 6 },
        'with several': { ...rest, 'content-range': 'bytes 4-9/10, 4-9/10' },
        'with another length': { ...rest, 'content-length': 5 },
        'of another ETag': { ...rest, etag: '"f"' },
        'of a weak ETag': { ...rest, etag: 'W/"e"' },
        'of no ETag': { 'content-range': 'bytes 4-9/10', 'content-length': 6 },
        'that is packed': { ...rest, 'content-encoding': 'gzip' },
      })) {
        seen = [];
        answer = (response, request) => {
          if (request.headers.range === undefined) whole(response);
          else response.writeHead(206, headers).end('4567890'.slice(0, headers['content-length']));
        };
        const { body, startByte } = await openSignedUrl(transport, url(), server.url, { kept });
        assert.deepEqual([startByte, (await bytesOf(body)).toString()], [0, '0123456789'], name);
        assert.equal(seen.length, 2);
      }
    });
  });
});
