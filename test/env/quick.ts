// `npm run test:quick`: what can be said soon. The crash matrix takes as long as all other unit tests.
import { node, runStages, script, unitPart, type Part } from './parts.ts';
import { fail } from './project.ts';

const lint: Part = {
  name: 'lint',
  command: node,
  args: [script('lint.ts'), '--changed'],
  limitMs: 120_000,
  isQuiet: true,
};

runStages([[[lint], [unitPart(['--ignore', 'test/unit/crash/**'], 600_000)]]]).catch(fail);
