import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { VSCode } from './vscode.ts';
let t = Date.now(); const lap = (s: string): void => { console.log(s, Date.now() - t); t = Date.now(); };
describe('dev2', () => {
  it('times', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'ft-dev-')); t = Date.now();
    const v = await VSCode.start(); lap('start');
    const a = await v.open(folder); lap('open'); await a.runCommand('Fine-Tuning: Use the Sandbox').catch((e) => console.log(e)); lap('cmd');
    await a.statusItem('balance').waitFor(); lap('balance');
    await a.reload(); lap('reload'); await a.runCommand('Fine-Tuning: Refresh').catch((e) => console.log(e)); lap('cmd');
    await a.statusItem('balance').waitFor(); lap('balance');
    await v.restart(); lap('restart'); const b = await v.open(folder); lap('open'); await b.runCommand('Fine-Tuning: Refresh').catch((e) => console.log(e)); lap('cmd');
    await v.close(); lap('close');
  });
});
