import assert from 'node:assert/strict';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { Artifact } from '../../../../src/core/api/types.ts';
import { listArtifacts, SignedLink } from '../../../../src/core/downloads/artifacts.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { silent } from '../../../helpers/runs/support.ts';
import { TestClock } from '../../../helpers/runs/testClock.ts';

const HOUR = 3_600_000;

describe('artifacts of a run', () => {
  it('are found by type and name, or by their type if the name has changed, unless several are of that type', async () => {
    const list: Artifact[] = [
      { artifact_type: 'model', filename: 'a.zip', url: '1' },
      { artifact_type: 'log', filename: 'a.zip', url: '2' },
      { artifact_type: 'log', filename: 'b.zip', url: '3' },
    ];
    const session = { account: { kind: 'sandbox' }, call: () => Promise.resolve(list) } as unknown as Session;
    const urlOf = (type: string, filename: string) =>
      new SignedLink(session, 'r', { type, filename }, new TestClock()).url(silent());
    assert.deepEqual([await urlOf('log', 'a.zip'), await urlOf('model', 'new.zip')], ['2', '1']);
    await assert.rejects(urlOf('log', 'new.zip'), { code: 'artifact-gone' });
  });

  for (const [expiresInMs, aheadMs, isNamed] of [
    [-HOUR, 0, true],
    [HOUR, 3 * HOUR, true],
    [-HOUR, -2 * HOUR, false],
    [undefined, 0, false],
  ] as const)
    it(`that expired: the time is given if it is over by the service's clock (${expiresInMs}, ${aheadMs})`, async () => {
      const expiresAt =
        expiresInMs === undefined ? undefined : new Date(Date.now() + expiresInMs).toISOString();
      const client = {
        createArtifactDownloads: () => Promise.reject(new ServiceError('not_found', 404)),
        getRun: () => Promise.resolve({ run_id: 'r', status: 'completed', model_id: 'm' }),
      };
      const session = {
        clockSkewMs: aheadMs,
        call: (work: (with_: typeof client) => unknown) => work(client),
        runs: { get: () => ({ artifacts_expires_at: expiresAt }) },
      } as unknown as Session;
      await assert.rejects(listArtifacts(session, 'r', silent()), {
        code: 'artifacts-expired',
        expiredAt: isNamed ? expiresAt : undefined,
      });
    });
});
