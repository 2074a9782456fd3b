import assert from 'node:assert/strict';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../../../src/core/api/errors.ts';
import { parseRetryAfter, retryDelayMs } from '../../../../src/core/api/retry.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';

describe('retry', () => {
  const reset = new NetworkError('reset');

  it('jitters from nothing to a limit that doubles, three times', () => {
    for (const [retries, limit] of [500, 1000, 2000].entries()) {
      assert.equal(retryDelayMs(reset, retries, 0), 0);
      assert.equal(retryDelayMs(reset, retries, 0.5), limit / 2);
    }
    assert.equal(retryDelayMs(reset, 3, 0), undefined);
  });

  it('repeats what may pass', () => {
    for (const status of [408, 429, 500, 502, 503, 504]) {
      assert.equal(retryDelayMs(new ServiceError('x', status), 0, 0), 0, String(status));
      assert.equal(retryDelayMs(new UnexpectedAnswerError(status, 'no-error-body'), 0, 0), 0, String(status));
    }
    for (const reason of ['refused', 'dns', 'reset', 'other'] as const)
      assert.equal(retryDelayMs(new NetworkError(reason), 0, 0), 0, reason);
  });

  it('does not repeat what would fail again, took long, or was stopped', () => {
    for (const status of [400, 401, 402, 403, 404, 409, 422])
      assert.equal(retryDelayMs(new ServiceError('x', status), 0, 0), undefined, String(status));
    for (const reason of ['tls', 'proxy', 'connect-timeout', 'answer-timeout', 'stalled'] as const)
      assert.equal(retryDelayMs(new NetworkError(reason), 0, 0), undefined, reason);
    assert.equal(retryDelayMs(new UnexpectedAnswerError(200, 'html'), 0, 0), undefined);
    assert.equal(retryDelayMs(new CancelledError(), 0, 0), undefined);
    assert.equal(retryDelayMs(new TypeError(), 0, 0), undefined);
  });

  it('waits at least as long as it is told, and not at all for more than a minute', () => {
    const after = (ms: number) => new ServiceError('rate_limited', 429, '', ms);
    assert.equal(retryDelayMs(after(60_000), 0, 0), 60_000);
    assert.equal(retryDelayMs(after(2_000), 1, 0.5), 2_500);
    assert.equal(retryDelayMs(after(60_001), 0, 0), undefined);
  });

  it('reads Retry-After as seconds or as an HTTP date', () => {
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
    for (const value of [
      undefined,
      '',
      '-1',
      '1.5',
      '0x10',
      '1e3',
      'soon',
      '2026-01-02',
      '5, 7',
      'Xxx, 99 Xxx 2026 99:99:99 GMT',
    ])
      assert.equal(parseRetryAfter(value, 0), undefined, value);
  });
});
