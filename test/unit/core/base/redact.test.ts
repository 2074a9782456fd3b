import assert from 'node:assert/strict';
import { redact } from '../../../../src/core/base/redact.ts';

describe('redact', () => {
  const CANARY = 'CaNaRy';

  it('masks API keys, authorization values, and signatures', () => {
    for (const text of [
      `authorization: Bearer ${CANARY}`,
      `authorization: bearer   ${CANARY}+/=`,
      `{"authorization":"Bearer ${CANARY}","accept":"*/*"}`,
      `Proxy-Authorization: Basic ${CANARY}==`,
      `Bearer a$b%${CANARY}`,
      `Bearer\n${CANARY}`,
      `key service_${CANARY} was refused`,
      `service_a!b#c$${CANARY}`,
      `service_a(${CANARY})`,
      `"service_${CANARY}"`,
      `https://storage.test/a.zip?X-Signature=${CANARY}&x=1`,
      `https://storage.test?sig=${CANARY}`,
      `(https://storage.test/a?x=1&sig=${CANARY})`,
      `https://storage.test/a?sig='${CANARY}'`,
      `https://storage.test/a#token=${CANARY}`,
      `HTTP://127.0.0.1:1234/artifacts/a?expires=1&signature=${CANARY}`,
      `GET /artifacts/a.zip?signature=${CANARY} failed`,
      `https://user:${CANARY}@proxy.test:8080`,
      `https://${CANARY}@proxy.test/`,
      `https://user:p@ss-${CANARY}@proxy.test/`,
      `first https://a.test/?x=${CANARY} and then https://b.test/?y=${CANARY} and service_${CANARY}`,
    ])
      assert.doesNotMatch(redact(text), new RegExp(CANARY), text);
  });

  it('keeps everything else', () => {
    for (const text of [
      'the service answered 422 model_not_available',
      'https://api.test:8443/prefix/api/v1/runs was refused (ECONNREFUSED)',
      'Error: x\n    at Client.#send (/opt/extension/dist/extension.cjs:12:34)',
      'charged? not known',
    ])
      assert.equal(redact(text), text);
    assert.equal(redact('GET https://a.test/x?sig=1 403'), 'GET https://a.test/x?*** 403');
  });
});
