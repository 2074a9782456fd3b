import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Reading } from '../../../../src/core/datasets/readFacts.ts';
import { Reports } from '../../../../src/core/datasets/reports.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { shownReading } from '../../../helpers/reading.ts';
import { reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { readAutomatically } = await withVscode(() => import('../../../../src/ui/datasets/autoCheck.ts'));

describe('readAutomatically', () => {
  const folder = useFolder();

  it('reads texts once there is a verdict of rows, but not of large files, and forgets them with the report', async () => {
    const file = path.join(folder(), 'a.jsonl');
    await writeFile(file, '{}');
    standIn.settings.set('fineTuning.checkAutomaticallyUpToMB', 50);
    const [read, errors]: [string[], unknown[]] = [[], []];
    let changes = {};
    const reports = new Reports({ check: (name) => Promise.resolve(reportOf({ path: name, ...changes })) });
    const readings = new Reports<Reading>({
      check: (name) => Promise.resolve((read.push(name), shownReading({ path: name }))),
    });
    const reader = readAutomatically(reports, readings, {
      error: (...of: unknown[]) => errors.push(of),
    } as never);
    const check = async (more: object) => {
      changes = more;
      await reports.check(file);
      for (let turns = 0; turns < 20; turns++) await turn();
      return read.splice(0);
    };
    assert.deepEqual(await check({ sizeBytes: 50_000_001 }), []);
    assert.deepEqual(await check({ kind: 'csv' }), []);
    assert.deepEqual(await check({ sizeBytes: 50_000_000 }), [file]);
    assert.ok(readings.get(file)?.report !== undefined);
    reports.drop(file);
    assert.equal(readings.get(file), undefined);
    standIn.settings.clear();
    reader.dispose();
    assert.deepEqual([await check({}), errors], [[], []]);
  });
});
