import assert from 'node:assert/strict';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { Artifact, RunDetail } from '../../../../src/core/api/types.ts';
import {
  artifactNamed,
  listArtifacts,
  artifactNamesOf,
  SignedLink,
} from '../../../../src/core/downloads/artifacts.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { silent } from '../../../helpers/runs/support.ts';
import { TestClock } from '../../../helpers/runs/testClock.ts';

const HOUR = 3_600_000;

describe('what a run offers', () => {
  const artifact = (type: string, filename: string | undefined, url: string): Artifact => ({
    artifact_type: type,
    url,
    ...(filename !== undefined && { filename }),
  });

  it('has a name of its own, also where the service calls two alike', () => {
    const list = [
      artifact('model', 'a.zip', '1'),
      artifact('log', 'a.zip', '2'),
      artifact('model', 'a.zip', '3'),
      artifact('model', 'a.zip', '4'),
      artifact('model', 'a (3).zip', '5'),
      artifact('model', undefined, '6'),
      artifact('model', undefined, '7'),
    ];
    const names = artifactNamesOf(list);
    assert.deepEqual(
      names.map(({ type, filename }) => `${type} ${filename}`),
      [
        'model a.zip',
        'log a.zip',
        'model a (2).zip',
        'model a (4).zip',
        'model a (3).zip',
        'model undefined',
        'model model (2)',
      ],
    );
    for (const [index, name] of names.entries()) assert.equal(artifactNamed(list, name), list[index]);
  });

  it('is found by its type where its name is another one now, unless several are of that type', () => {
    const renamed = [artifact('model', 'new.zip', '1'), artifact('log', 'a.zip', '2')];
    assert.equal(artifactNamed(renamed, { type: 'model', filename: 'a.zip' }).url, '1');
    const two = [...renamed, artifact('model', 'b.zip', '3')];
    assert.throws(() => artifactNamed(two, { type: 'model', filename: 'a.zip' }), { code: 'artifact-gone' });
  });

  it('is fetched by the URL of that very one', async () => {
    const list = [artifact('model', 'a.zip', 'first'), artifact('model', 'a.zip', 'second')];
    const account = { kind: 'sandbox' };
    const session = { account, call: () => Promise.resolve(list) } as unknown as Session;
    const link = (name: { type: string; filename: string }) =>
      new SignedLink(session, 'r', name, new TestClock()).url(silent());
    assert.equal(await link({ type: 'model', filename: 'a.zip' }), 'first');
    assert.equal(await link({ type: 'model', filename: 'a (2).zip' }), 'second');
  });

  describe('when it is expired', () => {
    /** @param aheadMs how far the service's clock is ahead of this machine's */
    function expired(expiresAtMs: number | undefined, aheadMs: number) {
      const notFound = new ServiceError('not_found', 404);
      const detail: RunDetail = { run_id: 'r', status: 'completed', model_id: 'm' };
      const client = {
        createArtifactDownloads: () => Promise.reject(notFound),
        getRun: () => Promise.resolve(detail),
      };
      const run =
        expiresAtMs === undefined ? {} : { artifacts_expires_at: new Date(expiresAtMs).toISOString() };
      const session = {
        clockSkewMs: aheadMs,
        call: (work: (with_: typeof client) => unknown) => work(client),
        runs: { get: () => run },
      } as unknown as Session;
      return listArtifacts(session, 'r', silent()).then(
        () => assert.fail('nothing is offered'),
        (error: unknown) => (error as { code: string; expiredAt?: string }).expiredAt,
      );
    }

    it('is told with the time, whoever asked, if that is over by the clock of the service', async () => {
      const atMs = Date.now() - HOUR;
      assert.equal(await expired(atMs, 0), new Date(atMs).toISOString());
      assert.equal(await expired(atMs + 2 * HOUR, 3 * HOUR), new Date(atMs + 2 * HOUR).toISOString());
      assert.equal(await expired(atMs, -2 * HOUR), undefined);
      assert.equal(await expired(undefined, 0), undefined);
    });
  });
});
