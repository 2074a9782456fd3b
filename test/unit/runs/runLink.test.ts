import assert from 'node:assert/strict';
import { runIdOfLink } from '../../../src/runs/page/runLink.ts';

describe('runIdOfLink', () => {
  const of = (path: string, query = '', fragment = '') => runIdOfLink({ path, query, fragment });

  it('is the id of a link to a run', () => {
    const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
    assert.equal(of(`/run/${uuid}`), uuid);
    assert.equal(of('/run/r_1'), 'r_1');
    assert.equal(of(`/run/${'a'.repeat(128)}`), 'a'.repeat(128));
  });

  it('is nothing for every other link, so that a link can do nothing else', () => {
    for (const path of [
      '',
      '/',
      '/run',
      '/run/',
      'run/abc',
      '//run/abc',
      '/Run/abc',
      '/run/abc/',
      '/run/abc/download',
      '/runs/abc',
      '/submit/abc',
      '/signIn',
      '/run/..',
      '/run/.',
      '/run/-abc',
      '/run/a b',
      '/run/a%2Fb',
      '/run/a\nb',
      '/run/abc\n',
      '/run/a?b',
      '/run/ä',
      '/run/<b>',
      `/run/${'a'.repeat(129)}`,
    ])
      assert.equal(of(path), undefined, JSON.stringify(path));
    assert.equal(of('/run/abc', 'key=service_x'), undefined);
    assert.equal(of('/run/abc', '', 'x'), undefined);
  });
});
