import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { FrameLocator } from 'playwright-core';

/** Fails on any accessibility violation in a webview's page. */
export async function assertAccessible(page: FrameLocator): Promise<void> {
  const body = await page.locator('body').elementHandle();
  const frame = await body.ownerFrame();
  assert.ok(frame);
  // Evaluated by the debugger, because the page's policy forbids other scripts.
  await frame.evaluate(axe.source);
  const found = await frame.evaluate(() => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof import('axe-core') };
    return inPage.run({ resultTypes: ['violations'] });
  });
  assert.ok(found.passes.length > 5, 'axe looked at the page');
  const problems = found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join('\n')}`,
  );
  assert.deepEqual(problems, []);
}
