import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson, startHttpServer, type TestServer } from '../helpers/httpServer.ts';
import { smallDataset } from './datasets.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, pressSubmit, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Hostile2k8vB4';
const LINK = '[Verify your account](command:workbench.action.files.newUntitledFile)';
const ADDRESS = 'https://evil.example/login';

/**
 * A service that follows the contract as little as possible: its texts try to become commands, and its models
 * have only an ID.
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
    const { pathname } = new URL(url, 'http://service');
    if (pathname === '/api/v1/balance' && this.breaksBalance) {
      sendJson(response, 400, { error: { code: 'unheard_of', message: LINK } });
      return;
    }
    sendJson(response, 200, this.#bodyOf(pathname));
  }

  #bodyOf(pathname: string): unknown {
    if (pathname === '/api/v1/balance') return { balance_cents: 5_000, currency: 'USD' };
    if (pathname === '/api/v1/models')
      return { data: [{ model_id: 'bare-model' }, { model_id: ADDRESS, name: 'Linked model' }] };
    if (pathname === '/api/v1/runs') return { data: [], has_more: false };
    const run = { run_id: 'run-new', status: 'queued', model_id: 'bare-model' };
    return { run: { ...run, created_at: new Date().toISOString() } };
  }
}

describe('a service that misbehaves', () => {
  const service = new HostileService();
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    await service.start();
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), smallDataset('rows'));
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.url, name: 'Work', apiKey: API_KEY });
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

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

  it('can be used for a submission although its models have only an ID', async () => {
    await beginFromList(workbench, 'rows.jsonl');
    // VS Code shows a description in a hover, as Markdown.
    await workbench.quickInput.item('Linked model').locator('.label-description').hover();
    const hover = workbench.page.locator('.monaco-hover').filter({ hasText: 'evil.example' });
    await hover.waitFor();
    await workbench.screenshot('hostile-models');
    assert.equal(await hover.locator('a').count(), 0);
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'bare-model', until: 'confirm' });
    await pressSubmit(workbench);
    // The response has neither price nor balance.
    await workbench.dialogs.waitForToast(/Submitted rows to Work\. Charged; the price isn’t known yet\./);
    assert.equal(service.countOf('POST /api/v1/runs'), 1);
    await workbench.clearNotifications();
  });
});
