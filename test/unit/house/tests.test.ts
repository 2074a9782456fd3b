import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { at, sourceOf } from './sources.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const MOCHA = /^(it|describe|before|after|beforeEach|afterEach)$/;

/** Calls `visit` for a node and the descendants that run when their module is loaded. */
function walkAtLoad(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    if (!ts.isFunctionLike(child)) walkAtLoad(child, visit);
  });
}

describe('the helpers of the tests', () => {
  // Each test file has functions of its own. A helper that keeps one from the first file of a process adds no tests to the other
  // files. These then pass without them, and how many tests there are differs from run to run.
  it('use mocha’s functions only when they are called', () => {
    const kept: string[] = [];
    for (const file of globSync('test/helpers/**/*.ts', { cwd: ROOT })) {
      const source = sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8'));
      walkAtLoad(source.tree, (node) => {
        if (ts.isIdentifier(node) && MOCHA.test(node.text)) kept.push(at(source, node));
      });
    }
    assert.deepEqual(kept, []);
  });
});
