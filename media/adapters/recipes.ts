import type { AdapterBlock, AdapterPageState, AdapterTool } from '../../src/ui/adapters/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { copyOf, drawNotes } from './overview.ts';

type Words = AdapterPageState['words'];

/**
 * Draws the recipes, with one tab per tool.
 * @param chosen the initially selected tool
 */
export function drawRecipes(
  tools: readonly AdapterTool[],
  words: Words,
  chosen: string | undefined,
  onTool: (tool: string) => void,
): HTMLElement[] {
  const panels = tools.map((tool) => drawPanel(tool, words));
  if (panels.length === 1) {
    for (const name of ['role', 'aria-labelledby']) panels[0]?.removeAttribute(name);
    return panels;
  }
  const tabs = tools.map(({ tool, name }, index) =>
    button(name, () => choose(index), {
      class: 'tab',
      key: `tab ${tool}`,
      attributes: { role: 'tab', id: `tab-${tool}`, 'aria-controls': `panel-${tool}` },
    }),
  );
  const show = (index: number) => {
    tabs.forEach((tab, other) => {
      tab.setAttribute('aria-selected', String(other === index));
      tab.setAttribute('tabindex', other === index ? '0' : '-1');
    });
    panels.forEach((panel, other) => (panel.hidden = other !== index));
  };
  const choose = (index: number) => {
    show(index);
    const tool = tools[index];
    if (tool !== undefined) onTool(tool.tool);
  };
  const attributes = { role: 'tablist', 'aria-label': words.tools };
  const list = element('div', { class: 'tabs', attributes }, tabs);
  list.addEventListener('keydown', (event) => {
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      ArrowRight: (at + 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const target = targets[event.key];
    if (at < 0 || target === undefined) return;
    event.preventDefault();
    choose(target);
    tabs[target]?.focus();
  });
  const first = tools.findIndex(({ tool }) => tool === chosen);
  show(Math.max(0, first));
  return [list, ...panels];
}

/** Draws commands and code to copy. @param name what they are for */
export function drawBlocks(name: string, blocks: readonly AdapterBlock[], words: Words): HTMLElement[] {
  return blocks.map(({ purpose, title, text, fold, hint }) => {
    const attributes = { tabindex: '0', role: 'group', 'aria-label': title };
    const code = element('pre', { attributes }, [element('code', { text })]);
    const key = `${name}, ${title}`;
    const summary = element('summary', { text: fold ?? '', attributes: { 'data-key': `summary ${key}` } });
    return element('div', { attributes: { 'data-purpose': purpose } }, [
      element('div', { class: 'blockHead' }, [
        element('h3', { text: title, attributes: { tabindex: '-1' } }),
        copyOf(key, text, words, 'secondary'),
      ]),
      fold === undefined
        ? code
        : element('details', { attributes: { 'data-key': `code ${key}` } }, [summary, code]),
      ...(hint === undefined ? [] : [element('p', { class: 'note', text: hint })]),
    ]);
  });
}

/** Shows the block with a purpose, of the shown tool if possible; else the beginning of the recipes. */
export function revealBlock(recipes: HTMLElement, purpose: string): void {
  const blocks = [...recipes.querySelectorAll<HTMLElement>('[data-purpose]')].filter(
    ({ dataset }) => dataset['purpose'] === purpose,
  );
  const panelOf = (block: HTMLElement) => block.closest<HTMLElement>('[role=tabpanel]');
  const block = blocks.find((one) => panelOf(one)?.hidden === false) ?? blocks[0];
  const panel = block && panelOf(block);
  if (panel?.hidden === true) document.getElementById(panel.getAttribute('aria-labelledby') ?? '')?.click();
  const folded = block?.querySelector('details');
  if (folded) folded.open = true;
  const heading = block?.querySelector('h3') ?? recipes.querySelector('h2');
  heading?.scrollIntoView({ block: 'start' });
  heading?.focus({ preventScroll: true });
}

function drawPanel({ tool, name, warnings, blocks, notes }: AdapterTool, words: Words): HTMLElement {
  const attributes = { role: 'tabpanel', id: `panel-${tool}`, 'aria-labelledby': `tab-${tool}` };
  return element('div', { class: 'panel', attributes }, [
    ...(warnings.length > 0 ? [drawNotes(warnings, words)] : []),
    ...drawBlocks(name, blocks, words),
    ...(notes.length > 0 ? [drawNotes(notes, words)] : []),
  ]);
}
