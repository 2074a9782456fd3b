import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sendJson, startHttpServer, type TestServer } from '../helpers/httpServer.ts';
import { smallDataset } from './datasets.ts';
import { signIn } from './signingIn.ts';
import { pressSubmit, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Hostile2k8vB4';
const LINK = '[Verify your account](command:workbench.action.files.newUntitledFile)';
const ADDRESS = 'https://evil.example/login';
const PAGES = ['', 'A', 'B'];
const PAGE_SIZE = 20;

/**
 * A service that follows the contract as little as possible. Its texts try to become commands. Its pages of
 * runs form a cycle, its models have only an ID, and its adapter is a web page.
 */
class HostileService {
  readonly requests: string[] = [];
  breaksBalance = false;
  #server: TestServer | undefined;

  get url(): string {
    return this.#server?.url ?? '';
  }

  async start(): Promise<void> {
    this.#server = await startHttpServer((request, response) => this.#answer(request, response));
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  countOf(prefix: string): number {
    return this.requests.filter((request) => request.startsWith(prefix)).length;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    this.requests.push(`${method} ${url}`);
    request.resume();
    if (method === 'POST' && url === '/api/v1/runs') {
      request.on('end', () => sendJson(response, 201, { run_id: 'run-new' }));
      return;
    }
    const { pathname, searchParams } = new URL(url, 'http://service');
    if (pathname === '/api/v1/balance' && this.breaksBalance) {
      sendJson(response, 400, { error: { code: 'unheard_of', message: LINK } });
      return;
    }
    if (pathname === '/login') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Log in</title>');
      return;
    }
    sendJson(response, 200, this.#bodyOf(pathname, searchParams.get('cursor') ?? ''));
  }

  #bodyOf(pathname: string, cursor: string): unknown {
    if (pathname === '/api/v1/balance') return { balance_cents: 5_000, currency: 'USD' };
    if (pathname === '/api/v1/models')
      return { data: [{ model_id: 'bare-model' }, { model_id: ADDRESS, name: 'Linked model' }] };
    if (pathname === '/api/v1/runs') return page(cursor);
    if (pathname.endsWith('/artifacts/download')) {
      const url = `${this.url}/login`;
      return { artifacts: [{ artifact_type: 'model', url, expires_in: 1800, filename: 'adapter.zip' }] };
    }
    const [, runId = ''] = /^\/api\/v1\/runs\/([^/]+)$/.exec(pathname) ?? [];
    return { run: { ...summary(runId), status: 'completed', label: runId } };
  }
}

function page(cursor: string) {
  const index = Math.max(0, PAGES.indexOf(cursor));
  // A is followed by B, and B by A again.
  const next = PAGES[index + 1] ?? 'A';
  const data = Array.from({ length: PAGE_SIZE }, (_, row) => summary(`run-${index * PAGE_SIZE + row}`));
  return { data, next_cursor: next, has_more: true };
}

function summary(runId: string) {
  const age = Number(runId.replace('run-', '')) * 60_000;
  return {
    run_id: runId,
    status: 'complete',
    model_id: 'bare-model',
    created_at: new Date(Date.now() - age).toISOString(),
    artifacts_available: true,
    artifacts_expires_at: new Date(Date.now() + 6 * 86_400_000).toISOString(),
  };
}

describe('a service that misbehaves', () => {
  const service = new HostileService();
  let folder: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await mkdir(path.join(folder, 'adapters'));
    await writeFile(path.join(folder, 'rows.jsonl'), smallDataset('rows'));
    await service.start();
    vscode = await VSCode.start({
      settings: { 'fineTuning.downloadDirectory': path.join(folder, 'adapters') },
    });
    workbench = await vscode.open(folder);
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.url, name: 'Work', apiKey: API_KEY });
  });

  after(async () => {
    await vscode.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const runs = () => workbench.sideBar.view('Runs');

  it('cannot put a link into a notification', async () => {
    service.breaksBalance = true;
    await workbench.runCommand('Fine-Tuning: Refresh Balance');
    const toast = workbench.dialogs.toast(/Verify your account/);
    await toast.waitFor();
    assert.equal(await toast.locator('.notification-list-item-message a').count(), 0);
    await workbench.screenshot('hostile-message');
    service.breaksBalance = false;
    await workbench.clearNotifications();
  });

  it('cannot keep "Load All Runs" busy forever', async () => {
    await runs().row('run-0').waitFor();
    const before = service.countOf('GET /api/v1/runs?');
    await workbench.runCommand('Fine-Tuning: Load All Runs');
    await workbench.dialogs.waitForToast(/The service reports more, but sends none\./);
    await workbench.screenshot('hostile-pages');
    assert.ok(service.countOf('GET /api/v1/runs?') - before < 20, 'a few pages, not thousands');
    await workbench.clearNotifications();
  });

  it('can be used for a submission although its models have only an ID', async () => {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu('rows.jsonl', 'Submit Dataset for Training…');
    // VS Code shows a description in a hover, as Markdown.
    await workbench.quickInput.item('Linked model').locator('.label-description').hover();
    const hover = workbench.page.locator('.monaco-hover').filter({ hasText: 'evil.example' });
    await hover.waitFor();
    await workbench.screenshot('hostile-models');
    assert.equal(await hover.locator('a').count(), 0);
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'bare-model', until: 'confirm' });
    await pressSubmit(workbench);
    // The response has neither price nor balance.
    await workbench.dialogs.waitForToast(/Submitted rows to Work\. Charged; its price isn’t known yet\./);
    assert.equal(service.countOf('POST /api/v1/runs'), 1);
    await workbench.clearNotifications();
  });

  it('cannot pass off a web page as an adapter', async () => {
    await workbench.sideBar.open('Fine-Tuning');
    const { dialogs } = workbench;
    await runs().pressInRowUntil(/run-1,/, 'Download Adapter…', dialogs.toast(/web page/i));
    await workbench.screenshot('hostile-adapter');
    const kept = await readdir(path.join(folder, 'adapters'), { recursive: true });
    assert.deepEqual(
      kept.map((file) => path.basename(file)).filter((name) => name.includes('.')),
      ['adapter.zip'],
      'it is kept under its name, and no part beside it',
    );
    // The row still offers the download because the run does not count as downloaded.
    await runs().pressInRowUntil(/run-1,/, 'Download Adapter…', dialogs.modal);
    await dialogs.waitForModal(/adapter\.zip/);
    await workbench.dialogs.press('Cancel');
  });
});
