import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import * as vscode from 'vscode';
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';

// VS Code patches node:tls in its extension host, which must be compatible with our certificates.
describe('HTTPS in the extension host', () => {
  const root = vscode.extensions.getExtension('fine-tuning-tools.fine-tuning')?.extensionPath ?? '';
  const tls = (name: string) => readFileSync(path.join(root, 'test/fixtures/tls', name));
  const server = createServer(
    { key: tls('server.key.pem'), cert: tls('server.pem') },
    (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"balance_cents":7,"currency":"USD"}');
    },
  );

  before((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  after(() => server.close());

  const client = (strictSsl: boolean) => {
    const { port } = server.address() as AddressInfo;
    const transport = new Transport({ strictSsl, systemCertificates: true, env: {} });
    return new Client(
      { baseUrl: `https://127.0.0.1:${port}`, apiKey: 'service_x', keyId: 'key-1' },
      () => transport,
    );
  };

  it('rejects an untrusted certificate', async () => {
    await assert.rejects(client(true).getBalance(), { code: 'network', reason: 'tls' });
  });

  it('works if http.proxyStrictSSL is off', async () => {
    assert.equal((await client(false).getBalance()).balance_cents, 7);
  });
});
