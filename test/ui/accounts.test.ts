import assert from 'node:assert/strict';
import { link, readdir, readFile, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { Service } from './service.ts';
import { signIn, typeSignIn } from './signingIn.ts';
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
    await dialogs.waitForModal(/start with “service_”; this doesn’t. Send it to 127\.0\.0\.1:\d+\?/);
    await workbench.screenshot('key-without-prefix');
    // The button that has the focus.
    await workbench.page.keyboard.press('Enter');
    await quickInput.waitForMessage(/API key for/);
    assert.deepEqual(work.requests, []);
    await quickInput.fill(BARE_KEY);
    await dialogs.waitForModal(/start with “service_”/);
    await dialogs.press('Use It');
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

  it('an API key that could not be verified is saved only after a confirmation', async () => {
    await home.shut();
    await typeSignIn(workbench, { address: home.baseUrl, name: 'Home', apiKey: HOME_KEY });
    const detail = await workbench.dialogs.waitForModal('Couldn’t verify the API key. Save it anyway?');
    assert.match(detail, /Can’t reach the service\. Check its URL/);
    await workbench.screenshot('key-not-tried');
    await workbench.dialogs.press('Cancel');
    await balance('1,000.00 USD').waitFor();
    await typeSignIn(workbench, { address: home.baseUrl, name: 'Home', apiKey: HOME_KEY });
    await workbench.dialogs.waitForModal(/Couldn’t verify/);
    await workbench.dialogs.press('Save');
    await workbench.dialogs.waitForToast('Saved the API key of Home. It couldn’t be verified yet.');
    await balance('Home').waitFor();
    await payer('Home').waitFor();
    await runs().welcomeButton('Retry').waitFor();
    await workbench.screenshot('offline');
    await workbench.clearNotifications();
    await home.reopen();
    await runs().welcomeButton('Retry').click();
    await balance('1,234.56 USD').waitFor();
    await runs().root.getByText('No runs yet').waitFor();
  });

  it('the status bar’s menu switches between accounts', async () => {
    home.addPastRuns(10);
    await workbench.runCommand('Fine-Tuning: Refresh');
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
    await pickInAccountMenu('Work');
    await balance('Work 1,000.00 USD').waitFor();
    await payer('Work').waitFor();
    await workbench.clearNotifications();
  });

  it('"Open Website" opens the website that the user added', async () => {
    const { dialogs, quickInput } = workbench;
    await pickInAccountMenu('Add Website…');
    await quickInput.waitForTitle('Website of Work');
    await quickInput.fill('http://pay.example');
    await quickInput.waitForMessage(/Enter an https:/);
    await quickInput.fill('pay.example/billing');
    await quickInput.waitUntilClosed();
    await pickInAccountMenu('Open Website');
    assert.match(await dialogs.waitForModal(/open the external website/), /^https:\/\/pay\.example\/billing/);
    await dialogs.press('Cancel');
    await balance('Work 1,000.00 USD').waitFor();
  });

  it('a rejected API key leads to one notification and no more requests', async () => {
    work.apiKey = NEXT_KEY;
    work.requests.length = 0;
    await workbench.runCommand('Fine-Tuning: Refresh');
    await runs().welcomeButton('Replace API Key').waitFor();
    // Its toast is hidden after 12 seconds.
    await workbench.dialogs.waitForToast('The service rejected the API key of Work.');
    await workbench.screenshot('key-rejected');
    await runs().welcomeButton('Open Website').click();
    await workbench.dialogs.waitForModal(/open the external website/);
    await workbench.dialogs.press('Cancel');
    const aboutKey = async () =>
      (await workbench.dialogs.notifications()).filter((text) => text.includes('API key'));
    const asked = work.requests.length;
    assert.ok(asked <= 3, work.requests.join('\n'));
    // Another command fails without a request. By then, the one that was rejected has ended.
    await workbench.runCommand('Fine-Tuning: Refresh Balance');
    await workbench.dialogs.waitForToast('The service rejected this API key.');
    assert.deepEqual((await aboutKey()).sort(), [
      'The service rejected the API key of Work.',
      'The service rejected this API key.',
    ]);
    assert.equal(work.requests.length, asked);
    await workbench.clearNotifications();
  });

  it('replacing the API key restores the account', async () => {
    await runs().welcomeButton('Replace API Key').click();
    await workbench.quickInput.waitForTitle('Replace the API Key of Work');
    assert.equal(await workbench.quickInput.hidesInput(), true);
    await workbench.quickInput.fill(NEXT_KEY);
    await workbench.dialogs.waitForToast('Replaced the API key of Work.');
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

  it('signing in to the same service again offers the previous account', async () => {
    const { quickInput } = workbench;
    await workbench.runCommand('Fine-Tuning: Sign In…');
    await quickInput.waitForMessage(/Service URL/);
    await quickInput.fill(work.baseUrl);
    await quickInput.pick(/Continue as “Work”/);
    await workbench.screenshot('sign-in-again');
    await quickInput.waitForMessage(/API key for/);
    await quickInput.fill(NEXT_KEY);
    await workbench.dialogs.waitForToast('Signed in to Work.');
    await balance('1,000.00 USD').waitFor();
    await workbench.clearNotifications();
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
