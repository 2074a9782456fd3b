import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { START, useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox server', () => {
  const bench = useBench();
  const port = () => Number(new URL(bench().sandbox.baseUrl).port);

  async function send(options: { path: string; headers: Record<string, string> }): Promise<IncomingMessage> {
    const sent = request({ host: '127.0.0.1', port: port(), ...options }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return answer;
  }

  /** A submission whose body is not sent yet. */
  function beginUpload(bytes: number, change: Record<string, string> = {}): ClientRequest {
    return request(`${bench().sandbox.baseUrl}/api/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bench().sandbox.apiKey}`,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': bytes,
        ...change,
      },
    });
  }

  /** A raw connection for handwritten HTTP. */
  async function dial(): Promise<Socket> {
    const socket = connect(port(), '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  it('answers only to its own host names, even for signed URLs', async () => {
    const authorization = `Bearer ${bench().sandbox.apiKey}`;
    const signed = new URL(await bench().signedUrl(await bench().completedRun()));
    for (const path of ['/api/v1/balance', signed.pathname + signed.search]) {
      for (const host of [`127.0.0.1:${port()}`, `localhost:${port()}`]) {
        assert.equal((await send({ path, headers: { authorization, host } })).statusCode, 200);
      }
      for (const host of [
        '127.0.0.1',
        'localhost',
        `127.0.0.1:${port() + 1}`,
        `rebound.example:${port()}`,
        `127.0.0.1.rebound.example:${port()}`,
        `127.0.0.1:${port()}.rebound.example`,
        `[::1]:${port()}`,
      ]) {
        assert.equal((await send({ path, headers: { authorization, host } })).statusCode, 421, host);
      }
    }
  });

  it('sends its simulated time in the Date header', async () => {
    for (const path of ['/balance', '/unknown'])
      assert.equal((await bench().get(path)).headers.get('date'), new Date(START).toUTCString());
  });

  it('closes within a second despite connections that are idle, uploading, or refused', async () => {
    const { sandbox } = bench();
    await bench().get('/balance');
    const idle = await dial();
    const uploading = beginUpload(1_000_000);
    uploading.write('--x\r\n');
    const refused = beginUpload(1_000_000, { authorization: '' });
    refused.write('x');
    await once(refused, 'response');
    const ends = [once(uploading, 'error'), once(idle.resume(), 'close')];
    refused.on('error', () => undefined);
    const began = performance.now();
    await sandbox.close();
    assert.ok(performance.now() - began < 60_000);
    await Promise.all(ends);
    await sandbox.close();
    assert.deepEqual(bench().log, []);
  });
});
