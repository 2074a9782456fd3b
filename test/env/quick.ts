// `npm run test:quick`: what can be said soon. The crash matrix takes as long as all other unit tests.
import { lintPart, mochaPart, runStages } from './parts.ts';
import { fail } from './project.ts';

runStages([[[lintPart], [mochaPart('unit', ['--ignore', 'test/unit/crash/**'], 600_000)]]]).catch(fail);
