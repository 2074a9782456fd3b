import assert from 'node:assert/strict';
import { sendJson, startHttpServer } from '../../../helpers/httpServer.ts';
import { runChild } from '../../../helpers/runChild.ts';

describe('the global fetch dispatcher', () => {
  for (const fetchFirst of [false, true]) {
    it(`is not replaced ${fetchFirst ? 'after a fetch' : 'before the first fetch'}`, async () => {
      const server = await startHttpServer((_request, response) =>
        sendJson(response, 200, { balance_cents: 1, currency: 'EUR' }),
      );
      const result = await runChild({
        kind: 'globals',
        connection: { baseUrl: server.url, apiKey: 'k', keyId: 'key-1' },
        fetchFirst,
      });
      await server.close();
      assert.deepEqual(result, { same: true, filled: fetchFirst });
    });
  }
});
