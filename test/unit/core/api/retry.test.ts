import assert from 'node:assert/strict';
import {
  NetworkError,
  ServiceError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../../../../src/core/api/errors.ts';
import { mayPass, parseRetryAfter } from '../../../../src/core/api/retry.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';

describe('mayPass', () => {
  it('is true for answers of the moment, and for the network but for reasons that last', () => {
    for (const [status, expected] of [
      ...[408, 425, 429, 500, 502, 503, 504].map((status) => [status, true] as const),
      ...[200, 400, 401, 402, 403, 404, 409, 422].map((status) => [status, false] as const),
    ])
      for (const error of [
        new ServiceError('x', status),
        new UnexpectedAnswerError(status, 'no-error-body'),
        new SignedUrlRefusedError(status),
      ])
        assert.equal(mayPass(error, []), expected, `${error.name} ${status}`);
    assert.equal(mayPass(new NetworkError('reset'), ['tls', 'proxy']), true);
    assert.equal(mayPass(new NetworkError('proxy'), ['tls', 'proxy']), false);
    for (const error of [new CancelledError(), new TypeError()]) assert.equal(mayPass(error, []), false);
  });
});

describe('parseRetryAfter', () => {
  it('reads seconds or an HTTP date, a week at most', () => {
    const now = Date.parse('2026-01-02T03:04:05Z');
    assert.equal(parseRetryAfter('120', now), 120_000);
    assert.equal(parseRetryAfter(' 0 ', now), 0);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:04:35 GMT', now), 30_000);
    assert.equal(parseRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', now), 0);
    const weekMs = 7 * 24 * 60 * 60_000;
    assert.equal(parseRetryAfter('9'.repeat(400), now), weekMs);
    assert.equal(parseRetryAfter('Fri, 02 Jan 2032 03:04:35 GMT', now), weekMs);
  });

  it('ignores nonsense', () => {
    const dates = ['2026-01-02', 'Xxx, 99 Xxx 2026 99:99:99 GMT'];
    for (const value of [undefined, '', '-1', '1.5', '0x10', '1e3', 'soon', '5, 7', ...dates])
      assert.equal(parseRetryAfter(value, 0), undefined, value);
  });
});
