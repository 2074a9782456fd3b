import assert from 'node:assert/strict';
import type { Artifact } from '../../../../src/core/api/types.ts';
import { artifactNamed, artifactNamesOf } from '../../../../src/core/downloads/artifacts.ts';

describe('the artifacts of a run', () => {
  const artifact = (type: string, filename: string | undefined, url: string): Artifact => ({
    artifact_type: type,
    url,
    ...(filename !== undefined && { filename }),
  });

  it('have unique names, even if the service uses a name twice', () => {
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
        ...['model a.zip', 'log a.zip', 'model a (2).zip', 'model a (4).zip', 'model a (3).zip'],
        ...['model undefined', 'model model (2)'],
      ],
    );
    for (const [index, name] of names.entries())
      assert.equal(artifactNamed(list, name).url, list[index]?.url);
  });

  it('are found by type if their name has changed, unless several have that type', () => {
    const renamed = [artifact('model', 'new.zip', '1'), artifact('log', 'a.zip', '2')];
    assert.equal(artifactNamed(renamed, { type: 'model', filename: 'a.zip' }).url, '1');
    const two = [...renamed, artifact('model', 'b.zip', '3')];
    assert.throws(() => artifactNamed(two, { type: 'model', filename: 'a.zip' }), { code: 'artifact-gone' });
  });
});
