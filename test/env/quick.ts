// `npm run test:quick`: what can be said within a minute. The crash matrix takes as long as all other unit tests.
import { node, runStages, script, unitPart, type Part } from './parts.ts';
import { fail } from './project.ts';

const lint: Part = {
  name: 'types, and lint of what changed',
  command: node,
  args: [script('lint.ts'), '--changed'],
  limitMs: 120_000,
  isQuiet: true,
};

runStages([[[lint], [unitPart(['--ignore', 'test/unit/crash/**'], 180_000)]]]).catch(fail);
