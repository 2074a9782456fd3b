import assert from 'node:assert/strict';
import { link, readdir, readFile, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const WORK_KEY = 'service_Work9f2kQ7';
const HOME_KEY = 'service_Home4c8mZ1';
const NEXT_KEY = 'service_Next6d3pX5';
const BARE_KEY = 'Bare5b7nY2withoutPrefix';

describe('accounts', () => {
  let work: Service;
  let home: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start({ settings: { 'fineTuning.baseUrl': 'https://fine-tuning.example' } });
    work = await Service.start(WORK_KEY);
    home = await Service.start(HOME_KEY);
    home.control.addFunds(23_456);
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
  });

  after(async () => {
    await vscode.close();
    await work.close();
    await home.close();
  });

  const runs = () => workbench.sideBar.view('Runs');
  /** The account's name beside the title of the Runs view. */
  const payer = (name: string) => runs().root.locator('.pane-header .description').getByText(name);
  const balance = (text: string) => workbench.statusItem('balance').getByText(text);

  async function pickInAccountMenu(label: string): Promise<void> {
    await workbench.statusItem('balance').click();
    await workbench.quickInput.waitForTitle('Account');
    await workbench.quickInput.pick(label);
  }

  /** Makes an account active, whatever the previous test left. */
  async function switchTo(name: string): Promise<void> {
    await workbench.clearNotifications();
    if ((await payer(name).count()) === 0) await pickInAccountMenu(name);
    await payer(name).waitFor();
  }

  afterEach(() => home.reopen());

  it('sign-in explains an invalid URL or API key before anything is sent', async () => {
    const { quickInput } = workbench;
    await runs().welcomeLink('Sign In').click();
    await quickInput.waitForMessage(/Service URL/);
    assert.equal(await quickInput.value(), 'https://fine-tuning.example', 'offered from the setting');
    await quickInput.fill('http://fine-tuning.example');
    await quickInput.waitForMessage(/Use https:/);
    await quickInput.fill('https://somebody:secret@fine-tuning.example');
    await quickInput.waitForMessage(/Remove the user name and password/);
    // As copied from the documentation, with an extra slash.
    await quickInput.fill(`${work.baseUrl}/api/v1/`);
    await quickInput.waitForMessage(/A name for this account/);
    await workbench.screenshot('sign-in-name');
    await quickInput.fill('  ');
    await quickInput.waitForMessage('Enter a name.');
    await quickInput.fill('Work');
    await quickInput.waitForMessage(/API key for 127\.0\.0\.1/);
    assert.equal(await quickInput.hidesInput(), true);
    await workbench.screenshot('sign-in-key');
    await quickInput.fill('service_two words');
    await quickInput.waitForMessage(/contains spaces or invalid characters/);
    assert.deepEqual(work.requests, []);
  });

  it('an API key without the prefix requires a confirmation', async () => {
    const { quickInput, dialogs } = workbench;
    await quickInput.fill(BARE_KEY);
    await dialogs.waitForModal(/start with “service_”\. Send it to 127\.0\.0\.1:\d+ anyway\?/);
    await workbench.screenshot('key-without-prefix');
    // The button that has the focus.
    await workbench.page.keyboard.press('Enter');
    await quickInput.waitForMessage(/API key for/);
    assert.deepEqual(work.requests, []);
    await quickInput.fill(BARE_KEY);
    await dialogs.waitForModal(/start with “service_”/);
    await dialogs.press('Send Anyway');
    await quickInput.waitForMessage(/rejected this API key/);
    assert.deepEqual(work.requests, ['GET /api/v1/balance']);
    await workbench.screenshot('wrong-key');
    await quickInput.close();
    await runs().welcomeLink('Sign In').waitFor();
    assert.equal(await workbench.statusItem('balance').count(), 0, 'nobody is signed in');
    await workbench.clearNotifications();
  });

  it('the right API key signs in, even with spaces around it', async () => {
    await signIn(workbench, { address: `${work.baseUrl}/`, name: 'Work', apiKey: ` ${WORK_KEY}  ` });
    await balance('1,000.00 USD').waitFor();
    await runs().root.getByText('No runs yet').waitFor();
    await (await workbench.sideBar.models()).row('Qwen3 8B').waitFor();
    await workbench.screenshot('signed-in');
  });

  it('the status bar’s menu switches between accounts', async () => {
    home.addPastRuns(10);
    await signIn(workbench, { address: home.baseUrl, name: 'Home', apiKey: HOME_KEY });
    await balance('1,234.56 USD').waitFor();
    await runs()
      .row(/Completed/)
      .first()
      .waitFor();
    await workbench.statusItem('balance').click();
    await workbench.quickInput.waitForTitle('Account');
    await workbench.screenshot('account-menu-services');
    await workbench.quickInput.pick('Work');
    await balance('1,000.00 USD').waitFor();
    await runs()
      .row(/Completed/)
      .first()
      .waitFor({ state: 'hidden' });
    await pickInAccountMenu('Home');
    await balance('1,234.56 USD').waitFor();
    await runs()
      .row(/Completed/)
      .first()
      .waitFor();
    await payer('Home').waitFor();
    await workbench.clearNotifications();
  });

  it('while a service is offline, the view says since when', async () => {
    await switchTo('Home');
    const row = runs()
      .row(/Completed/)
      .first();
    await row.waitFor();
    await home.shut();
    await workbench.runCommand('Fine-Tuning: Refresh');
    // Only the user's own refresh leads to a notification, not the watcher's.
    await workbench.dialogs.waitForToast(/Can’t reach the service\. Check its URL/);
    await workbench.clearNotifications();
    const message = runs()
      .root.locator('.message')
      .filter({ hasText: /^Offline since .+\. Data may be out of date\./ });
    await message.waitFor();
    await workbench.screenshotInThemes('runs-offline', () => message.waitFor());
    assert.deepEqual(await workbench.dialogs.toastTexts(), []);
    await home.reopen();
    await workbench.runCommand('Fine-Tuning: Refresh');
    await message.waitFor({ state: 'hidden' });
  });

  it('a rejected API key leads to one notification and no more requests', async () => {
    const { quickInput } = workbench;
    await switchTo('Work');
    await balance('Work 1,000.00 USD').waitFor();
    await pickInAccountMenu('Add Website…');
    await quickInput.waitForTitle('Website for Work');
    await quickInput.fill('pay.example/billing');
    await quickInput.waitUntilClosed();
    work.apiKey = NEXT_KEY;
    work.requests.length = 0;
    await workbench.runCommand('Fine-Tuning: Refresh');
    await runs().welcomeButton('Replace API Key').waitFor();
    // Its toast is hidden after 12 seconds.
    await workbench.dialogs.waitForToast('The service rejected the API key for Work.');
    await workbench.screenshot('key-rejected');
    await runs().welcomeButton('Open Website').click();
    const website = await workbench.dialogs.waitForModal(/open the external website/);
    assert.match(website, /^https:\/\/pay\.example\/billing/);
    await workbench.dialogs.press('Cancel');
    const aboutKey = async () =>
      (await workbench.dialogs.notifications()).filter((text) => text.includes('API key'));
    const asked = work.requests.length;
    assert.ok(asked <= 3, work.requests.join('\n'));
    // Another command fails without a request. By then, the one that was rejected has ended.
    await workbench.runCommand('Fine-Tuning: Refresh Balance');
    await workbench.dialogs.waitForToast('The service rejected this API key.');
    assert.deepEqual((await aboutKey()).sort(), [
      'The service rejected the API key for Work.',
      'The service rejected this API key.',
    ]);
    assert.equal(work.requests.length, asked);
    await workbench.clearNotifications();
  });

  it('replacing the API key restores the account', async () => {
    await runs().welcomeButton('Replace API Key').click();
    await workbench.quickInput.waitForTitle('Replace the API Key for Work');
    assert.equal(await workbench.quickInput.hidesInput(), true);
    await workbench.quickInput.fill(NEXT_KEY);
    await workbench.dialogs.waitForToast('Replaced the API key for Work.');
    await balance('1,000.00 USD').waitFor();
    await runs().root.getByText('No runs yet').waitFor();
    await workbench.clearNotifications();
  });

  it('unreadable accounts are reported after a reload, and restored with their API keys', async () => {
    const file = path.join(vscode.globalStorage, 'accounts.json');
    // In one step each: a window that finds no file between two steps would take the accounts for another window's.
    await link(file, `${file}.kept`);
    await symlink('.', `${file}.folder`);
    await rename(`${file}.folder`, file);
    await workbench.reload();
    await workbench.dialogs.waitForToast(/Your accounts can’t be read from .*accounts\.json/);
    await runs().root.getByText('Your accounts can’t be read.').waitFor();
    await workbench.screenshot('accounts-unreadable');
    await workbench.clearNotifications();
    await runs().welcomeButton('Retry').click();
    await workbench.dialogs.waitForToast(/Your accounts can’t be read from /);
    await rename(`${file}.kept`, file);
    await workbench.dialogs.pressInToast(/Your accounts can’t be read from /, 'Retry');
    await balance('1,000.00 USD').waitFor();
    await workbench.clearNotifications();
  });

  it('signing out asks first, sends nothing, and leaves the other account', async () => {
    await switchTo('Work');
    await pickInAccountMenu('Sign Out…');
    const detail = await workbench.dialogs.waitForModal('Sign out of Work?');
    assert.match(detail, /API key will be deleted from this machine/);
    await workbench.dialogs.press('Cancel');
    await balance('1,000.00 USD').waitFor();
    work.requests.length = 0;
    await pickInAccountMenu('Sign Out…');
    await workbench.dialogs.waitForModal('Sign out of Work?');
    await workbench.dialogs.press('Sign Out');
    await balance('1,000.00 USD').waitFor({ state: 'hidden' });
    await runs().welcomeButton('Switch Account').waitFor();
    await workbench.screenshot('signed-out-of-one');
    assert.deepEqual(work.requests, []);
  });

  it('no API key is in a file of settings, storage, or logs', async () => {
    const secrets = [WORK_KEY, HOME_KEY, NEXT_KEY, BARE_KEY].flatMap((key) => [
      Buffer.from(key),
      Buffer.from(key, 'utf16le'),
      Buffer.from(
        Buffer.from(key)
          .toString('base64')
          .replace(/.{0,2}=*$/, ''),
      ),
    ]);
    const entries = await readdir(vscode.userData, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
    assert.ok(
      files.some((file) => file.endsWith('Fine-Tuning.log')),
      'the log was looked at',
    );
    for (const file of files) {
      // A file of a transaction may be gone.
      const content = await readFile(file).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return Buffer.alloc(0);
      });
      assert.ok(!secrets.some((secret) => content.includes(secret)), file);
    }
  });
});
