import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import {
  COMMANDS,
  CONTEXT_KEYS,
  EDITORS,
  PANELS,
  SETTINGS,
  UNLISTED_COMMANDS,
  VIEWS,
} from '../../../src/ui/shared/ids.ts';
import { readSources } from './sources.ts';

interface MenuItem {
  command: string;
  when?: string;
  group?: string;
}
interface Manifest {
  name: string;
  publisher: string;
  extensionKind: string[];
  engines: { vscode: string };
  devDependencies: Record<string, string>;
  icon: string;
  activationEvents: string[];
  capabilities: Record<
    'untrustedWorkspaces' | 'virtualWorkspaces',
    { supported: unknown; description: string }
  >;
  contributes: {
    viewsContainers: Record<string, { id: string; icon: string }[]>;
    views: Record<string, { id: string; icon: string; when?: string }[]>;
    viewsWelcome: { view: string; contents: string; when?: string }[];
    commands: { command: string; title: string; category: string; enablement?: string }[];
    menus: Record<string, MenuItem[]>;
    keybindings?: MenuItem[];
    customEditors: { viewType: string; priority: string; selector: { filenamePattern: string }[] }[];
    walkthroughs: {
      id: string;
      steps: {
        description: string;
        media: { svg: string; altText: string };
        completionEvents: string[];
      }[];
    }[];
    configuration: { properties: Record<string, { scope: string; type: string; default: unknown }> };
  };
}

const ROOT = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('package.json', ROOT), 'utf8');
const manifest = JSON.parse(text) as Manifest;
const texts = JSON.parse(readFileSync(new URL('package.nls.json', ROOT), 'utf8')) as Record<string, string>;
const { contributes } = manifest;
const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
const sorted = (values: Iterable<string>) => [...values].sort();

/** Names that other extensions, key bindings, and agents rely on. */
const CONTRACT = {
  commands: [
    'fineTuning.signIn',
    'fineTuning.signOut',
    'fineTuning.switchAccount',
    'fineTuning.useSandbox',
    'fineTuning.submitDataset',
    'fineTuning.checkDataset',
    'fineTuning.previewDataset',
    'fineTuning.openSampleDataset',
    'fineTuning.compareAnswers',
    'fineTuning.openSampleComparison',
    'fineTuning.refresh',
    'fineTuning.showRun',
    'fineTuning.copyRunId',
    'fineTuning.downloadAdapter',
    'fineTuning.cancelUpload',
    'fineTuning.resolveSubmission',
    'fineTuning.refreshBalance',
    'fineTuning.showSpend',
    'fineTuning.setBudget',
    'fineTuning.diagnoseConnection',
    'fineTuning.showLog',
    'fineTuning.copySupportInfo',
    'fineTuning.reportIssue',
    'fineTuning.openWalkthrough',
    'fineTuning.sandbox',
  ],
  views: ['fineTuning.runs', 'fineTuning.models'],
  settings: ['fineTuning.baseUrl', 'fineTuning.labelMarker', 'fineTuning.downloadDirectory'],
};

describe('package.json', () => {
  it('contains the names that others rely on', () => {
    assert.equal(`${manifest.publisher}.${manifest.name}`, 'fine-tuning-tools.fine-tuning');
    assert.equal(texts['extension.displayName'], 'Fine-Tuning');
    assert.equal(texts['category'], 'Fine-Tuning');
    const commands = contributes.commands.map(({ command }) => command);
    for (const id of CONTRACT.commands) assert.ok(commands.includes(id), id);
    assert.deepEqual(
      contributes.viewsContainers['activitybar']?.map(({ id }) => id),
      ['fineTuning'],
    );
    assert.deepEqual(
      contributes.views['fineTuning']?.map(({ id }) => id),
      CONTRACT.views,
    );
    for (const id of CONTRACT.settings) assert.ok(id in contributes.configuration.properties, id);
  });

  it('lists commands that each have a feature', () => {
    const added = readSources()
      .filter(({ file }) => file.endsWith('/feature.ts'))
      .flatMap(({ tree }) =>
        [...tree.text.matchAll(/^ +\[COMMANDS\.(\w+)\]:/gm)].map(([, name = '']) => name),
      );
    assert.deepEqual(sorted(added), sorted(Object.keys(COMMANDS)));
  });

  it('contributes exactly the registered commands, except those that lenses, fixes, and rows run', () => {
    const unlisted = new Set<string>(Object.values(UNLISTED_COMMANDS));
    assert.deepEqual(
      sorted(contributes.commands.map(({ command }) => command)),
      sorted(Object.values(COMMANDS).filter((id) => !unlisted.has(id))),
    );
    for (const { command, category, title } of contributes.commands) {
      assert.equal(category, '%category%', command);
      assert.equal(title, `%command.${command.replace('fineTuning.', '')}%`);
    }
  });

  it('contributes exactly the custom editors of the code, as an option beside the text editor', () => {
    assert.deepEqual(
      contributes.customEditors.map(({ viewType }) => viewType),
      Object.values(EDITORS),
    );
    for (const { priority, selector } of contributes.customEditors) {
      assert.equal(priority, 'option');
      assert.deepEqual(selector, [{ filenamePattern: '*.jsonl' }]);
    }
    const explorer = contributes.menus['explorer/context'] ?? [];
    for (const { command, when } of explorer.filter((one) => /Dataset$/.test(one.command)))
      assert.match(when ?? '', /\(jsonl\|ndjson\)/, command);
  });

  it('contributes exactly the views and settings of the code', () => {
    assert.deepEqual(Object.keys(contributes.views), ['fineTuning']);
    assert.deepEqual(
      sorted((contributes.views['fineTuning'] ?? []).map(({ id }) => id)),
      sorted(Object.values(VIEWS)),
    );
    assert.deepEqual(
      sorted(Object.keys(contributes.configuration.properties)),
      sorted(Object.keys(SETTINGS).map((name) => `fineTuning.${name}`)),
    );
  });

  it('contributes exactly the settings that the README lists', () => {
    const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
    assert.deepEqual(
      sorted([...readme.matchAll(/^\| `(fineTuning\.\w+)` /gm)].map(([, name = '']) => name)),
      sorted(Object.keys(contributes.configuration.properties)),
    );
  });

  it('lets a workspace change only settings without influence on money, URLs, or paths', () => {
    const settings = Object.entries(contributes.configuration.properties);
    const ofWorkspaces = settings.filter(([, { scope }]) => scope !== 'application');
    assert.deepEqual(
      ofWorkspaces.map(([name, { scope }]) => `${name} ${scope}`),
      ['checkAutomaticallyUpToMB', 'codeLens', 'datasetFiles'].map((name) => `fineTuning.${name} resource`),
    );
    assert.equal(contributes.configuration.properties['fineTuning.baseUrl']?.default, '');
  });

  it('has a text for each key, and a key for each text', () => {
    const used = [...text.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key ?? '');
    assert.deepEqual(sorted(new Set(used)), sorted(Object.keys(texts)));
    for (const [key, value] of Object.entries(texts)) assert.notEqual(value.trim(), '', key);
  });

  it('refers only to existing commands in menus, key bindings, and links', () => {
    const known = new Set<string>([...Object.values(COMMANDS), `${VIEWS.runs}.focus`]);
    const items = [...Object.values(contributes.menus).flat(), ...(contributes.keybindings ?? [])];
    for (const { command } of items) assert.ok(known.has(command), command);
    const links = Object.values(texts).flatMap((value) => [...value.matchAll(/\]\(([^)]*)\)/g)]);
    assert.ok(links.length > 0);
    for (const [, link = ''] of links)
      assert.ok(known.has(link.replace(/^command:/, '')) && link.startsWith('command:'), link);
  });

  it('shows at most 9 entries in the menu of a row, and 4 in one of a file', () => {
    /** The entries of a menu, without buttons, whose condition on this key has one of these values. */
    const shown = (menu: string, key: string, ...values: string[]) =>
      (contributes.menus[menu] ?? []).filter(({ when = '', group = '' }) =>
        [...when.matchAll(new RegExp(`${key}\\w* (==|=~) (?:/(.+?)/(i?)|([\\w.-]+))`, 'g'))].some(
          ([, , pattern, flags, exact]) =>
            !group.startsWith('inline') &&
            values.some((one) =>
              pattern === undefined ? one === exact : new RegExp(pattern, flags).test(one),
            ),
        ),
      );
    const rows = [
      ...['run', 'run.downloadable', 'run.downloadable.downloaded', 'run.downloading'],
      ...['unknown', 'unsent', 'cancellable', 'damaged'].map((state) => `submission.${state}`),
      'model.available.terms.policy',
    ];
    for (const row of rows) {
      const { length } = shown('view/item/context', 'viewItem', row);
      assert.ok(length > 0 && length <= 9, `${row}: ${length}`);
    }
    const files = Object.keys(contributes.menus).filter((menu) => /^(explorer|editor)\//.test(menu));
    for (const menu of files)
      for (const names of [
        ['.jsonl', 'train.jsonl'],
        ['.zip', 'adapter.zip'],
        ['.safetensors', 'adapter_model.safetensors'],
        ['.csv', 'adapter.csv'],
        ['.json', 'adapter_config.json'],
      ])
        assert.ok(shown(menu, 'resource', ...names).length <= 4, `${menu} ${names.join()}`);
    assert.equal(shown('explorer/context', 'resource', '.jsonl').length, 4);
    for (const menu of ['explorer/context', 'editor/context', 'editor/title/context'])
      for (const extension of ['.csv', '.TSV', '.json'])
        assert.deepEqual(
          shown(menu, 'resource', extension).map(({ command }) => command),
          ['fineTuning.convertToJsonl'],
        );
  });

  it('hides a submission and a check by what a file has, never by its name', () => {
    const offers = Object.entries(contributes.menus).flatMap(([menu, items]) =>
      items
        .filter(({ command }) => ['fineTuning.submitDataset', 'fineTuning.checkDataset'].includes(command))
        .filter(({ when = '' }) => when.includes('resource'))
        .map(({ when = '' }) => [menu, when] as const),
    );
    assert.equal(offers.length, 7);
    for (const [menu, when] of offers) {
      assert.match(when, / && resourcePath not in fineTuning\.answersFiles$/, menu);
      assert.doesNotMatch(when, /resourceFilename/, menu);
    }
  });

  it('is activated for each page that VS Code restores', () => {
    const restored = manifest.activationEvents.flatMap(
      (event) => /^onWebviewPanel:(.+)$/.exec(event)?.[1] ?? [],
    );
    assert.deepEqual(restored.sort(), Object.values(PANELS).sort());
  });

  it('has one command of the sandbox, which the palette offers only while it is active', () => {
    const ofSandbox = contributes.commands.filter(({ command }) => command.startsWith('fineTuning.sandbox'));
    assert.deepEqual(
      ofSandbox.map(({ enablement }) => enablement),
      [CONTEXT_KEYS.sandbox],
    );
  });

  it('refers only to existing context keys and views, and uses every context key', () => {
    const keys = new Set<string>(Object.values(CONTEXT_KEYS));
    const views = new Set<string>([...Object.values(VIEWS), ...Object.values(EDITORS)]);
    const clauses = [
      ...Object.values(contributes.menus).flat(),
      ...contributes.viewsWelcome,
      ...(contributes.views['fineTuning'] ?? []),
      ...contributes.commands.map(({ enablement }) => ({ when: enablement })),
      ...steps.flatMap(({ completionEvents }) => completionEvents.map((when) => ({ when }))),
    ].flatMap(({ when }) => (when === undefined ? [] : [when]));
    assert.ok(clauses.length > 10);
    for (const clause of clauses)
      for (const [name] of clause.matchAll(/fineTuning\.[\w.]+/g))
        assert.ok(keys.has(name) || views.has(name), clause);
    for (const key of keys)
      assert.ok(
        clauses.some((clause) => clause.includes(key)),
        `${key} is not used`,
      );
  });

  it('has welcome content for every state of a session', () => {
    const states = contributes.viewsWelcome
      .filter(({ view }) => view === VIEWS.runs)
      .flatMap(({ when = '' }) => [...when.matchAll(/state == ([\w-]+)/g)].map(([, state]) => state ?? ''));
    const all = ['signedOut', 'connecting', 'ready', 'offline', 'key-rejected', 'key-missing'];
    assert.deepEqual(sorted(new Set(states)), sorted(all));
    for (const { view } of contributes.viewsWelcome) assert.ok(Object.values<string>(VIEWS).includes(view));
  });

  it('has one button for a signed-out user, and links beside it', () => {
    const lines = (texts['welcome.signedOut'] ?? '').split('\n');
    const isButton = (line: string) => /^\[[^\]]+\]\([^)]+\)$/.test(line);
    assert.deepEqual(lines.filter(isButton), ['[Use the Sandbox](command:fineTuning.useSandbox)']);
    const links = lines
      .filter((line) => !isButton(line))
      .join()
      .match(/command:[\w.]+/g);
    assert.deepEqual(links, ['command:fineTuning.signIn', 'command:fineTuning.openSampleDataset']);
  });

  it('contains no web address', () =>
    assert.doesNotMatch(text + JSON.stringify(texts), /https?:|www\.|mailto:/));

  it('declares its limits in untrusted and virtual workspaces, and runs in the workspace', () => {
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
    for (const { supported, description } of [untrustedWorkspaces, virtualWorkspaces]) {
      assert.equal(supported, 'limited');
      assert.ok((texts[description.replaceAll('%', '')] ?? '').length > 20);
    }
    assert.equal(manifest.engines.vscode, '^1.105.0');
    assert.match(manifest.devDependencies['@types/vscode'] ?? '', /^1\.105\./);
  });

  it('refers only to existing images', () => {
    const pictures = [
      manifest.icon,
      ...Object.values(contributes.viewsContainers)
        .flat()
        .map(({ icon }) => icon),
      ...Object.values(contributes.views)
        .flat()
        .map(({ icon }) => icon),
      ...steps.map(({ media }) => media.svg),
    ];
    for (const picture of pictures) assert.ok(existsSync(new URL(picture, ROOT)), picture);
  });

  it('completes walkthrough steps by context keys, and has accessible images for them', () => {
    assert.equal(steps.length, 3);
    for (const { description, media, completionEvents } of steps) {
      assert.match(completionEvents.join(), /^onContext:fineTuning\.walkthrough\.\w+$/);
      assert.match(texts[description.replaceAll('%', '')] ?? '', /\n\[[^\]]+\]\(command:[\w.]+\)$/);
      const alt = texts[media.altText.replaceAll('%', '')] ?? '';
      const picture = readFileSync(new URL(media.svg, ROOT), 'utf8');
      // VS Code shows the image in a webview, where screen readers only get the image's own label.
      assert.ok(alt !== '' && picture.includes(`role="img" aria-label="${alt}"`), media.svg);
      // No fixed colors, so the image fits every theme.
      assert.doesNotMatch(picture, /#[0-9a-f]{3,8}\b|rgb|\b(black|white)\b/i, media.svg);
    }
  });

  it('mentions no telemetry', () => {
    assert.doesNotMatch(text, /telemetry/i);
  });
});
